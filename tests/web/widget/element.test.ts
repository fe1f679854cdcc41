// @vitest-environment happy-dom
/** The element in a document: registration, sessions, events. Real browsers judge the rest. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { liveSessionCount } from '../../../web/core/index.ts';
import type { AttentionLabElement } from '../../../web/widget/element.ts';

/** In this document addresses are relative to a server that is not there. */
const wasmUrl = `${pathToFileURL(resolve('web/core/generated'))}/`;

beforeAll(() => import('../../../web/widget/define.ts'));

afterEach(() => document.body.replaceChildren());

const next = (target: EventTarget, type: string): Promise<CustomEvent> =>
  new Promise((resolve) => {
    target.addEventListener(type, (event) => resolve(event as CustomEvent), { once: true });
  });

async function added(attributes: Record<string, string> = {}): Promise<AttentionLabElement> {
  const element = document.createElement('attention-lab');
  element.setAttribute('wasm-url', wasmUrl);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  const ready = next(document, 'attn-ready');
  document.body.append(element);
  await ready;
  return element;
}

const texts = (element: AttentionLabElement, stage: string): string[] =>
  [
    ...element.renderRoot
      .querySelector(`figure[data-stage="${stage}"]`)!
      .querySelectorAll<HTMLElement>('td[data-row]'),
  ].map((cell) => cell.querySelector('input')?.value ?? cell.textContent?.trim() ?? '');

describe('registration', () => {
  test('happens once, however often the script is loaded', async () => {
    const registered = customElements.get('attention-lab');
    vi.resetModules();
    const again = await import('../../../web/widget/define.ts');
    expect(customElements.get('attention-lab')).toBe(registered);
    expect(again.AttentionLabElement).not.toBe(registered);
  });
});

test('the element shows the worked example', async () => {
  const element = await added();
  expect(texts(element, 'heads')).toEqual(['1.2384', '1.7616', '2.7616', '0.2384']);
});

test('an attribute chooses the example', async () => {
  const element = await added({ preset: 'exercise2' });
  expect(texts(element, 'heads')).toEqual(['5', '10']);
});

test('a change is told to the page around, numbers first', async () => {
  const element = await added();
  const change = next(document, 'attn-change');
  const input = element.renderRoot.querySelector<HTMLInputElement>(
    'figure[data-stage="v"] td[data-row="0"][data-col="0"] input',
  )!;
  input.value = '0';
  input.dispatchEvent(new Event('change', { bubbles: true, composed: true }));
  const event = await change;
  expect(event.composed).toBe(true);
  // 0.119203·3 and 0.880797·3.
  expect(texts(element, 'heads')).toEqual(['0.3576', '1.7616', '2.6424', '0.2384']);
});

describe('sessions', () => {
  test('one an element, gone with it, back with it', async () => {
    const before = liveSessionCount();
    const first = await added();
    await added();
    expect(liveSessionCount()).toBe(before + 2);

    first.remove();
    await Promise.resolve();
    expect(liveSessionCount()).toBe(before + 1);

    const back = next(first, 'attn-change');
    document.body.append(first);
    await back;
    expect(liveSessionCount()).toBe(before + 2);

    document.body.replaceChildren();
    await Promise.resolve();
    expect(liveSessionCount()).toBe(before);
  });

  test('an element that is moved keeps its own', async () => {
    const element = await added();
    const before = liveSessionCount();
    const place = document.createElement('div');
    document.body.append(place);
    place.append(element);
    await new Promise((resolve) => setTimeout(resolve));
    expect(liveSessionCount()).toBe(before);
    expect(texts(element, 'heads')).toEqual(['1.2384', '1.7616', '2.7616', '0.2384']);
  });

  test('an element that does not stay makes none', async () => {
    const before = liveSessionCount();
    const element = document.createElement('attention-lab');
    element.setAttribute('wasm-url', wasmUrl);
    document.body.append(element);
    element.remove();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(liveSessionCount()).toBe(before);
  });
});
