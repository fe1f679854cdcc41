// @vitest-environment happy-dom
/** The dialogs on their own: texts read, kept and taken, fills, seeds, copies and names. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nothing, render } from 'lit';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { load, type Session } from '../../../web/core/index.ts';
import { type PresetId, presets } from '../../../web/lessons/presets.ts';
import { initialState } from '../../../web/state/initial.ts';
import { problemFrom } from '../../../web/state/problem.ts';
import { reduce } from '../../../web/state/reducer.ts';
import { createStore, type Store } from '../../../web/state/store.ts';
import { Tools } from '../../../web/widget/tools.ts';

/** In this document addresses are relative to a server that is not there. */
const wasmUrl = `${pathToFileURL(resolve('web/core/generated'))}/`;

let root: HTMLElement;
let session: Session;
let store: Store;
let tools: Tools;

/** The dialogs over an example, in a host that draws nothing else. */
async function over(preset: PresetId): Promise<void> {
  const engine = await load({ wasmUrl });
  session = engine.createSession();
  const problem = problemFrom(presets[preset].parts);
  session.configure({ ...problem.sizes, source: problem.source });
  session.run();
  store = createStore(initialState(preset, problem), async () => reduce);
  await store.ready();
  const requestUpdate = () => void render(tools.render() ?? nothing, root);
  store.subscribe(requestUpdate);
  tools = new Tools({
    renderRoot: root,
    store,
    session,
    table: new Map(engine.stages.map((info) => [info.id, info])),
    shown: { batch: 0, head: 0 },
    updateComplete: Promise.resolve(true),
    requestUpdate,
  });
}

beforeEach(async () => {
  root = document.createElement('div');
  document.body.append(root);
  await over('worked');
});

afterEach(() => {
  session.dispose();
  document.body.replaceChildren();
  vi.restoreAllMocks();
});

const dialog = () => root.querySelector('dialog');
const box = () => root.querySelector<HTMLTextAreaElement>('textarea:not([readonly])');
const said = () => root.querySelector('#dialog-reading')?.textContent?.trim() ?? '';
const buttons = () => [...root.querySelectorAll('button')].map((b) => b.textContent?.trim() ?? '');
const given = (id: 'q' | 'k' | 'v' | 'x') => [...(store.state.problem.inputs[id] ?? [])];

async function open(stage: Parameters<Tools['openMatrix']>[0], text?: string): Promise<void> {
  tools.openMatrix(stage, text);
  await vi.waitFor(() => expect(dialog()?.open).toBe(true));
}

function press(name: string): void {
  const found = [...root.querySelectorAll('button')].find((b) => b.textContent?.trim() === name);
  expect(found, `${name} in ${buttons()}`).toBeDefined();
  found?.click();
}

function type(field: HTMLInputElement | HTMLTextAreaElement | null, text: string): void {
  if (!field) throw new Error('There is no such field.');
  field.value = text;
  field.dispatchEvent(new Event('input'));
  field.dispatchEvent(new Event('change'));
}

function turnTo(stage: string): void {
  const select = root.querySelector('select') as HTMLSelectElement;
  select.value = stage;
  select.dispatchEvent(new Event('change'));
}

const close = () => dialog()?.close();

describe('a text for a matrix', () => {
  test('is read as it is typed, and changes nothing before it is taken', async () => {
    await open('v');
    expect(said()).toBe('');
    type(box(), '[[1, 1/2], [-2, 7]]');
    expect(said()).toBe('Understood as Python list, 2 × 2.');
    const preview = [...root.querySelectorAll('.preview td')].map((cell) => cell.textContent);
    expect(preview).toEqual(['1.000', '0.5000', '−2.000', '7.000']);
    expect(given('v')).toEqual([1, 2, 3, 0]);
    press('Take it');
    expect(given('v')).toEqual([1, 0.5, -2, 7]);
    expect(dialog()).toBeNull();
    await open('v');
    expect(box()?.value).toBe('');
  });

  test('that contradicts other matrices says so, and brings its sizes', async () => {
    await open('k', '1 2 3\n4 5 6\n7 8 9');
    expect(said()).toContain(
      'K has 3 rows, but V needs T_k = 2. K has 3 columns, but Q needs d_k = 4.',
    );
    press('Take it and set T_k = 3 and d_k = 3');
    expect(store.state.problem.sizes).toMatchObject({ tk: 3, dK: 3 });
    expect(given('q')).toEqual([2, 0, 2, 0, 4, 0]);
  });

  test('says of the others what becomes of them: given ones are cut, drawn ones drawn again', async () => {
    await over('random');
    store.dispatch({ type: 'fill', stage: 'q', fill: 'ones' });
    await open('k', '1 2 3\n4 5 6\n7 8 9');
    expect(said()).toContain(
      'Taking it resizes Q: numbers that fit stay, new ones are 0. Taking it draws V again in the new size, from the same seed.',
    );
    press('Take it and set T_k = 3 and d_k = 3');
    // d_k = 3 columns of T_q = 4 rows are left.
    expect(given('q')).toEqual(Array(12).fill(1));
    expect(store.state.problem.inputs.v).toBeUndefined();
    expect(store.state.problem.seeds).toEqual({ v: 1 });
  });

  test.each([
    ['v', Array(1025).fill('1,2').join('\n'), 'V cannot be taken: T_k is 1025, but at most 1024'],
    ['q', `${Array(1025).fill('1').join(',')}`, 'Q cannot be taken: d_k is 1025, but at most 1024'],
  ] as const)(
    'of more than the page draws is not offered to be taken: %s',
    async (id, text, why) => {
      await open(id, text);
      expect(said()).toContain(why);
      expect(root.querySelector('#dialog-reading')?.className).toBe('complaint');
      expect(buttons().filter((name) => name.startsWith('Take'))).toEqual([]);
      expect(box()?.value).toBe(text);
    },
  );

  test('that is no matrix says where', async () => {
    await open('q', '1 2\n3 x');
    expect(said()).toMatch(/x.*\(line 2, character 3\)/);
    expect(buttons().filter((name) => name.startsWith('Take'))).toEqual([]);
  });
});

describe('a text that was not taken', () => {
  test('is there again when the dialog is, each matrix with its own', async () => {
    await open('q');
    type(box(), '1 2 x');
    close();
    expect(dialog()).toBeNull();
    await open('v');
    expect(box()?.value).toBe('');
    type(box(), '5 6');
    turnTo('q');
    expect(box()?.value).toBe('1 2 x');
    expect(said()).toMatch(/x.*line 1/);
    close();
    await open('v');
    expect(box()?.value).toBe('5 6');
    tools.openNames();
    close();
    await open('q');
    expect(box()?.value).toBe('1 2 x');
  });

  test('goes along to an input without one, and stays where a result is looked at', async () => {
    await open('q', '1 2; 3 4');
    turnTo('weights');
    expect(box()).toBeNull();
    turnTo('v');
    expect(box()?.value).toBe('');
    turnTo('q');
    expect(box()?.value).toBe('1 2; 3 4');
    turnTo('v');
    expect(box()?.value).toBe('1 2; 3 4');
    press('Take it');
    expect(given('v')).toEqual([1, 2, 3, 4]);
    await open('q');
    expect(box()?.value).toBe('');
  });

  test('gives way to what is pasted into a cell of its matrix', async () => {
    await open('q', '1 2 x');
    close();
    await open('q', '3 4 5 6');
    expect(box()?.value).toBe('3 4 5 6');
  });
});

describe('a fill', () => {
  test.each([
    ['Zeros', [0, 0, 0, 0]],
    ['Ones', [1, 1, 1, 1]],
    ['Identity', [1, 0, 0, 1]],
  ])('%s', async (name, cells) => {
    await open('v');
    press(name);
    expect(given('v')).toEqual(cells);
    expect(dialog()).toBeNull();
  });

  const seedField = () => root.querySelector<HTMLInputElement>('input[inputmode="numeric"]');

  test.each(['-1', '1.5', 'x', '', '4294967296'])('from the seed “%s” is refused', async (seed) => {
    await open('v');
    type(seedField(), seed);
    press('Draw');
    expect(said()).toBe(`A seed is a whole number from 0 to 4294967295, but “${seed}” was found.`);
    expect(given('v')).toEqual([1, 2, 3, 0]);
  });

  test('from a seed waits for the core to draw it', async () => {
    await open('v');
    type(seedField(), '4294967295');
    press('Draw');
    expect(store.state.problem.seeds).toEqual({ v: 4294967295 });
    expect(store.state.problem.inputs.v).toBeUndefined();
  });
});

describe('a copy', () => {
  const clipboard = () => vi.spyOn(navigator.clipboard, 'writeText');

  test('goes to the clipboard, results too', async () => {
    session.setInput('v', [1, 2, 3, 0]);
    const written = clipboard().mockResolvedValue();
    await open('v');
    press('CSV');
    await vi.waitFor(() => expect(root.textContent).toContain('Copied.'));
    expect(written.mock.calls[0]?.[0].trim().split(/\s+/)).toEqual(['1,2', '3,0']);
    await open('weights');
    // Without scores every key has the same share.
    press('NumPy');
    await vi.waitFor(() => expect(written.mock.calls[1]?.[0].match(/0\.5/g)).toHaveLength(4));
  });

  test('stands there to be copied where the clipboard refuses', async () => {
    clipboard().mockRejectedValue(new Error('not allowed'));
    await open('weights');
    press('CSV');
    await vi.waitFor(() =>
      expect(root.querySelector<HTMLTextAreaElement>('textarea[readonly]')?.value).toContain('0.5'),
    );
    expect(root.textContent).toContain('The clipboard cannot be written here');
  });
});

describe('names', () => {
  const field = (title: string) =>
    [...root.querySelectorAll('label')]
      .find((label) => label.textContent?.trim() === title)
      ?.querySelector('input') ?? null;

  test('are given to the axes that there are', async () => {
    tools.openNames();
    expect(field('Dials (columns of X)')).toBeNull();
    // As many keys as queries have their names, until the box is unticked.
    expect(field('Key tokens')).toBeNull();
    type(field('Query tokens'), 'she, he');
    expect(store.state.problem.names).toEqual({ query: ['she', 'he'], key: ['she', 'he'] });
    const same = field('Keys have the same names');
    expect(same?.checked).toBe(true);
    same?.click();
    type(field('Key tokens'), ' the, cat ');
    type(field('Query tokens'), 'he');
    expect(store.state.problem.names).toEqual({ key: ['the', 'cat'], query: ['he'] });
    type(field('Key tokens'), ' ');
    expect(store.state.problem.names.key).toEqual([]);
  });

  test('of queries are those of keys where both come from X', async () => {
    session.dispose();
    await over('cat');
    tools.openNames();
    expect(field('Key tokens')).toBeNull();
    type(field('Query tokens'), 'dog');
    expect(store.state.problem.names).toMatchObject({ query: ['dog'], key: ['dog'] });
  });
});
