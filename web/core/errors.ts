/** Every failure of the core as one error class: a code, the facts, and the sentence made of them. */

import type { wholeSentences } from './whole-errors.ts';

export type Fact = string | number;
type Sentence = (subject: string, found: Fact, expected: Fact) => string;

/**
 * The sentence of every code that a forward pass can fail with; `learn` adds the others. The first
 * group of codes is named in wasm/include/attn/status.hpp.
 */
const sentences = {
  badSize: (subject: string, found: Fact, expected: Fact) =>
    `${subject} must be a whole number of at least ${expected}; found ${found}.`,
  tooLarge: (subject: string, found: Fact, expected: Fact) =>
    subject === subjects.arena
      ? `These sizes need ${megabytes(found)}; at most ${megabytes(expected)} fit.`
      : `${subject} may be at most ${expected}; found ${found}.`,
  outOfMemory: (_subject: string, found: Fact) =>
    `There is no memory for the ${megabytes(found)} that these sizes need; choose smaller ones.`,
  sizeMismatch: (subject: string, found: Fact, expected: Fact) =>
    `${subject} is ${found}, but the other sizes need ${expected}.`,
  notMultiple: (subject: string, found: Fact, expected: Fact) =>
    `${subject} must be a multiple of ${expected}; found ${found}.`,
  badNumber: (subject: string, found: Fact) =>
    `${subject} must be a finite float32 number${subject === subjects.softcap ? ' above 0' : ''}; found ${found}.`,
  stageAbsent: (subject: string) => `${subject} does not exist under the present configuration.`,
  notGiven: (subject: string) =>
    `${subject} is computed from other matrices and cannot be written.`,
  cellOutsideStage: (subject: string, found: Fact, expected: Fact) =>
    `${subject} has no such cell: an index is ${found}, but must be a whole number below ${expected}.`,

  wrongLength: (subject: string, found: Fact, expected: Fact) =>
    `${subject} needs ${expected} numbers; found ${found}.`,
  disposed: () => 'This session was disposed of and cannot be used any more.',

  noWebAssembly: () => 'WebAssembly is missing here, and every number on this page comes from it.',
  noSimd: () =>
    'This WebAssembly lacks SIMD; browsers have it since 2021 (Chrome 91, Firefox 89, Safari 16.4).',
  wasmMissing: (subject: string, found: Fact) => `${subject} could not be loaded (${found}).`,
  wasmWrongType: (subject: string, found: Fact) =>
    `${subject} is not a WebAssembly module; the server sent ${found}.`,
  wasmBlocked: () =>
    "The page's content security policy blocks WebAssembly; script-src needs 'wasm-unsafe-eval'.",
  wasmBroken: (subject: string, found: Fact) => `${subject} could not be started (${found}).`,
  selfTestFailed: (subject: string, found: Fact, expected: Fact) =>
    `The ${subject} build computes ${found} where ${expected} is right, so it is not used.`,
};

export type ErrorCode = keyof typeof sentences | keyof typeof wholeSentences;

/** What a sentence calls the sizes, constants and stages that an error is about. */
const subjects: Record<string, string> = {
  arena: 'The arena',
  batch: 'The batch size',
  heads: 'The number of query heads',
  kvHeads: 'The number of key/value heads',
  tq: 'T_q, the number of queries,',
  tk: 'T_k, the number of keys,',
  dK: 'd_k, the width of a key,',
  dV: 'd_v, the width of a value,',
  dModel: 'd_model, the width of a token,',
  scale: 'The scale',
  softcap: 'The softcap',
  x: 'X',
  xContext: 'X of the context',
  wq: 'W_q',
  wk: 'W_k',
  wv: 'W_v',
  wo: 'W_o',
  q: 'Q',
  k: 'K',
  v: 'V',
};

/** Adds what only the whole module can fail with: it is fetched with that. */
export function learn(
  moreSentences: Readonly<Record<string, Sentence>>,
  moreSubjects: Readonly<Record<string, string>>,
): void {
  Object.assign(sentences, moreSentences);
  Object.assign(subjects, moreSubjects);
}

/** Thrown by everything in core: `code` for programs, `message` for readers. */
export class AttentionError extends Error {
  readonly code: ErrorCode;
  /** The size, constant, stage or file at fault, by its name in code. */
  readonly subject: string;
  readonly found: Fact;
  readonly expected: Fact;

  constructor(code: ErrorCode, subject = '', found: Fact = '', expected: Fact = '') {
    const sentence = (sentences as Partial<Record<ErrorCode, Sentence>>)[code] ?? (() => code);
    super(sentence(subjects[subject] ?? subject, found, expected));
    this.name = 'AttentionError';
    this.code = code;
    this.subject = subject;
    this.found = found;
    this.expected = expected;
  }
}

function megabytes(bytes: Fact): string {
  const amount = Number(bytes) / 2 ** 20;
  return amount < 2 ** 30 ? `${Math.ceil(amount)} MB` : 'far more memory than there is';
}
