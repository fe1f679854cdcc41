/** The layering check: every forbidden kind of import and include is found, every allowed one passes. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { layeringProblems } from '../../checks/layering.mjs';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'layering-'));
  mkdirSync(join(root, 'web'));
  mkdirSync(join(root, 'wasm'));
});

afterEach(() => rmSync(root, { recursive: true }));

function problemsOf(path: string, text: string): string[] {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  return layeringProblems(root);
}

test.each([
  ['web/format/a.ts', "import { view } from '../view/matrix.ts';", 'format may not know view'],
  [
    'web/view/a.ts',
    "import { load } from '../core/load.ts';",
    'view may not know core but for its types',
  ],
  [
    'web/view/a.ts',
    "import {\n  one,\n  two,\n} from '../state/store.ts';",
    'view may not know state',
  ],
  ['web/core/a.ts', "import '../state/store.ts';", 'core may not know state'],
  ['web/core/a.ts', "const m = await import('../io/csv.ts');", 'core may not know io'],
  ['web/io/a.ts', "export * from '../view/matrix.ts';", 'io may not know view'],
  ['web/state/a.ts', "import type { W } from '../widget/element.ts';", 'state may not know widget'],
  ['web/page/a.ts', "import { store } from '../state/store.ts';", 'page may not know state'],
  ['web/state/a.ts', "import { html } from 'lit';", 'state may not use the package lit'],
  ['web/extra/a.ts', '', 'web/extra is not a known layer'],
  ['wasm/src/a.cpp', '#include <emscripten/val.h>', 'wasm/src may not include emscripten/val.h'],
  ['wasm/src/a.cpp', '#include <wasm_simd128.h>', 'wasm/src may not include wasm_simd128.h'],
  [
    'wasm/include/attn/a.hpp',
    '#include "../../src/simd.hpp"',
    'may not include ../../src/simd.hpp',
  ],
  ['wasm/reference/a.hpp', '#  include <gtest/gtest.h>', 'wasm/reference may not include'],
  ['wasm/bindings/bindings.cpp', '#include "simd128/a.hpp"', 'wasm/bindings may not include'],
])('%s: %s', (path, text, sentence) => {
  expect(problemsOf(path, text)).toEqual([expect.stringContaining(sentence)]);
});

test.each([
  ['web/view/a.ts', "import type { Session } from '../core/types.ts';"],
  ['web/format/a.ts', "import { stageIds } from '../core/types.ts';"],
  ['web/view/a.ts', "import { html } from 'lit';\nimport { live } from 'lit/directives/live.js';"],
  ['web/core/a.ts', "// import '../state/store.ts'\nimport { b } from './b.ts';"],
  ['web/widget/a.ts', "const csv = await import('../io/csv.ts');"],
  ['wasm/src/simd.hpp', '#include <wasm_simd128.h>\n#include <simde/wasm/simd128.h>'],
  ['wasm/src/a.cpp', '#include "attn/stages.hpp"\n#include "simd.hpp"\n#include <cstdint>'],
  ['wasm/bindings/bindings.cpp', '#include <emscripten/bind.h>\n#include "attn/pipeline.hpp"'],
])('%s may hold: %s', (path, text) => {
  expect(problemsOf(path, text)).toEqual([]);
});
