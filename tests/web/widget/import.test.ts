/** The class can be imported where there is no page, and registers nothing. */
import { expect, test } from 'vitest';

test('importing the class in Node has no side effect', async () => {
  const before = Object.getOwnPropertyNames(globalThis).sort();
  const { AttentionLabElement, tagName } = await import('../../../web/widget/element.ts');
  expect(typeof AttentionLabElement).toBe('function');
  expect(tagName).toBe('attention-lab');
  expect(globalThis.customElements?.get(tagName)).toBeUndefined();
  // Lit announces its versions and lends Node a registry; nothing else may appear.
  const lits = /^(lit\w*|reactiveElement\w*|customElements)$/;
  const added = Object.getOwnPropertyNames(globalThis).filter((name) => !before.includes(name));
  expect(added.filter((name) => !lits.test(name))).toEqual([]);
});
