/** An element that is moved, removed, brought back, or left and returned to. */
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { Lab } from './lab.ts';

const output = [
  ['1.2384', '1.7616'],
  ['2.7616', '0.2384'],
];

interface Session {
  dispose(): void;
}

interface Engine {
  createSession(): Session;
  /** Only the engine that knows more than the forward pass, which an element may go over to. */
  memory?(): { inUse: number };
}

type Element = HTMLElement & { readonly engine: Engine | null };

/** What sessions hold: those of the forward pass that were made since, and the bytes of the others. */
async function countSessions(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const elements = [...document.querySelectorAll<Element>('attention-lab')];
    const engine = elements[0]!.engine!;
    const create = engine.createSession;
    const counted = window as unknown as { live: number; bytes(): number; added?: Element };
    counted.live = 0;
    counted.bytes = () => {
      const all = counted.added ? [...elements, counted.added] : elements;
      const { inUse } = all.find(({ engine }) => engine?.memory)?.engine?.memory?.() ?? {
        inUse: 0,
      };
      // The module itself holds a few bytes from its start on; a session holds thousands.
      return inUse < 1000 ? 0 : inUse;
    };
    engine.createSession = () => {
      const session = create();
      const dispose = session.dispose;
      counted.live += 1;
      session.dispose = function (this: Session) {
        counted.live -= 1;
        dispose.call(this);
      };
      return session;
    };
  });
  return () =>
    page.evaluate(() => {
      const { live, bytes } = window as unknown as { live: number; bytes(): number };
      return live + bytes();
    });
}

const removeAll = (page: Page) =>
  page.evaluate(() => {
    for (const element of document.querySelectorAll('attention-lab')) element.remove();
  });

test('an element that is moved keeps its numbers and its sessions', async ({ page }) => {
  await page.goto('strict/pages/two.html');
  const first = new Lab(page, page.locator('#first'));
  await first.ready();
  const live = await countSessions(page);
  // All of it is loaded, the comparison at its end, too.
  await first.matrix('heads').scrollIntoViewIfNeeded();
  await expect(first.host.getByText(/effective keys/i).first()).toBeAttached();
  await first.edit('k', 0, 0, '2');
  const before = await live();
  await page.evaluate(() => {
    document.querySelector('#right')!.append(document.querySelector('#first')!);
  });
  await first.expectTexts('heads', [
    ['1.0949', '1.9051'],
    ['2.7616', '0.2384'],
  ]);
  // Time enough for what loads when it comes into view.
  await first.host.locator('#scale').scrollIntoViewIfNeeded();
  await page.waitForTimeout(300);
  expect(await live()).toBe(before);
  await first.edit('k', 0, 0, '1');
  await first.expectTexts('heads', output);
  await removeAll(page);
  await expect.poll(live).toBe(0);
});

test('an element that is removed frees its sessions, and comes back with its numbers', async ({
  page,
}) => {
  await page.goto('strict/pages/two.html');
  await new Lab(page, page.locator('#first')).ready();
  await new Lab(page, page.locator('#second')).ready();
  const live = await countSessions(page);
  await page.evaluate(() => {
    const added = document.createElement('attention-lab');
    added.id = 'added';
    document.body.prepend(added);
    Object.assign(window, { added });
  });
  const added = new Lab(page, page.locator('#added'));
  await added.expectTexts('heads', output);
  expect(await live()).toBeGreaterThan(0);
  await added.edit('k', 0, 0, '2');
  await expect(added.cell('heads', 0, 0)).toHaveText('1.0949');

  await page.evaluate(() => document.querySelector('#added')!.remove());
  // Another one is not touched by it.
  const second = new Lab(page, page.locator('#second'));
  await second.edit('v', 2, 1, '1');
  await expect(second.cell('heads', 2, 1)).toHaveText('1.0000');
  await removeAll(page);
  await expect.poll(live).toBe(0);

  await page.evaluate(() => {
    document.body.append((window as unknown as { added: HTMLElement }).added);
  });
  await expect(added.cell('heads', 0, 0)).toHaveText('1.0949');
  expect(await live()).toBeGreaterThan(0);
  await added.edit('k', 0, 0, '1');
  await added.expectTexts('heads', output);
  await removeAll(page);
  await expect.poll(live).toBe(0);
});

test('an element that is removed while the engine loads holds no session', async ({ page }) => {
  await page.goto('strict/pages/two.html');
  await new Lab(page, page.locator('#first')).ready();
  await new Lab(page, page.locator('#second')).ready();
  const live = await countSessions(page);
  await removeAll(page);
  await page.evaluate(async () => {
    for (let i = 0; i < 5; ++i) {
      const element = document.createElement('attention-lab');
      document.body.append(element);
      element.remove();
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  });
  expect(await live()).toBe(0);
});

test('Back leads to a working page', async ({ page }) => {
  let lab = await Lab.open(page);
  await page.goto('strict/pages/bare.html');
  await new Lab(page).ready();
  await page.goBack();
  lab = new Lab(page);
  await lab.expectTexts('heads', output);
  await lab.edit('k', 0, 0, '2');
  await expect(lab.cell('heads', 0, 0)).toHaveText('1.0949');
});

test('a page that the browser keeps and shows again works on', async ({ page }) => {
  const lab = await Lab.open(page);
  await page.evaluate(() => {
    for (const type of ['pagehide', 'pageshow']) {
      dispatchEvent(new PageTransitionEvent(type, { persisted: true }));
    }
  });
  await lab.edit('k', 0, 0, '2');
  await lab.expectTexts('heads', [
    ['1.0949', '1.9051'],
    ['2.7616', '0.2384'],
  ]);
});

test('loading the script twice is no error', async ({ page }) => {
  await page.goto('strict/pages/bare.html');
  const lab = new Lab(page);
  await lab.expectTexts('heads', output);
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.type = 'module';
    script.src = '../lab/attention-lab.js?again';
    const loaded = new Promise((resolve, reject) => {
      script.onload = resolve;
      script.onerror = reject;
    });
    document.head.append(script);
    return loaded.then(() => {});
  });
  await lab.edit('k', 0, 0, '2');
  await expect(lab.cell('heads', 0, 0)).toHaveText('1.0949');
});

test('an unknown example is named, with those that there are', async ({ page }) => {
  await page.goto('strict/pages/bare.html');
  await new Lab(page).ready();
  await page.evaluate(() => {
    const element = document.createElement('attention-lab');
    element.setAttribute('preset', 'nonsense');
    element.id = 'added';
    document.body.append(element);
  });
  const added = new Lab(page, page.locator('#added'));
  await expect(added.alerts).toContainText(/nonsense.*worked/);
  await added.expectTexts('heads', output);
});

const parts: Readonly<Record<string, [RegExp, (lab: Lab) => Promise<unknown>]>> = {
  'the examples': [/presets/, (lab) => lab.select(/^Exercise 2/)],
  'the dialogs': [/tools/, (lab) => lab.button('Names…').click()],
  explanations: [/insight/, (lab) => lab.cell('rawScores', 0, 0).hover()],
  gradients: [
    /gradients/,
    (lab) => lab.host.getByRole('checkbox', { name: 'Show the gradients' }).check(),
  ],
  'heat maps': [/heat-map/, (lab) => lab.set(/number of queries/, '17')],
  'the end of the page': [/page-end/, (lab) => lab.host.locator('#scale').scrollIntoViewIfNeeded()],
};

for (const [name, [script, act]] of Object.entries(parts)) {
  test(`${name} cannot be fetched: it is said, and everything else works`, async ({
    page,
    problems,
  }) => {
    const lab = await Lab.open(page);
    let isOffline = true;
    await page.route(new RegExp(`${script.source}[^/]*\\.js$`), (route) =>
      isOffline ? route.abort() : route.continue(),
    );
    await act(lab);
    await expect(lab.alerts).toContainText('A part of the page could not be loaded');
    if (name === 'heat maps') await lab.button('Undo').click();
    await lab.edit('k', 0, 0, '2');
    await expect(lab.cell('heads', 0, 0)).toHaveText('1.0949');
    for (const problem of problems) expect(problem).toContain('Failed to load resource');
    problems.length = 0;
    isOffline = false;
    if (name !== 'the examples' && name !== 'the dialogs') return;
    await act(lab);
    const shown = name === 'the examples' ? lab.cell('heads', 0, 1) : lab.dialog;
    await expect(shown).toBeVisible();
  });
}

test('a link whose reader cannot be fetched leaves a page that works', async ({
  page,
  problems,
}) => {
  await page.route(/address-bar[^/]*\.js$/, (route) => route.abort());
  const lab = await Lab.open(page, 'strict/lab/#?example=exercise2');
  await expect(lab.alerts).toContainText('A part of the page could not be loaded');
  await lab.expectTexts('heads', output);
  for (const problem of problems) expect(problem).toContain('Failed to load resource');
  problems.length = 0;
});
