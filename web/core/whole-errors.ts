/** Sentences and subjects of the failures that only the whole module has. */
import type { Fact } from './errors.ts';

export const wholeSentences = {
  excludes: (subject: string, found: Fact) =>
    subject === 'context'
      ? 'A context needs a projection from X; found Q, K and V given.'
      : `Valid lengths must stand without past keys; found ${found} of these.`,
  badMask: (_subject: string, found: Fact, expected: Fact) =>
    `The mask holds ${found} at ${expected}; a boolean mask holds 0 and 1, a float mask finite numbers and −Infinity.`,
  badChoice: (subject: string, found: Fact, expected: Fact) =>
    `${subject} must be ${expected}; found “${found}”.`,
  badSeed: (_subject: string, found: Fact, expected: Fact) =>
    `A seed must be a whole number from 0 to ${expected}; found ${found}.`,
  workerDied: (_subject: string, found: Fact) =>
    `A worker stopped in the middle of its work (${found}); nothing came of it. The next call starts a new one.`,
  rowOutside: (_subject: string, found: Fact, expected: Fact) =>
    `A range of rows must begin and end between 0 and ${expected}; found ${found}.`,
  stepOutside: (_subject: string, found: Fact, expected: Fact) =>
    `A range of steps must begin and end between 0 and ${expected}; found ${found}.`,
};

export const wholeSubjects = {
  past: 'The number of past keys',
  validLengths: 'The number of valid lengths',
  validLength: 'A valid length',
  maskRank: 'The number of axes of the mask',
  maskBatch: "The mask's axis of batches",
  maskHeads: "The mask's axis of heads",
  maskQueries: "The mask's axis of queries",
  maskKeys: "The mask's axis of keys",
  maskExtent: 'An axis of the mask',
  mask: 'The mask',
  maskKind: 'The kind of a mask',
  layout: 'The layout',
  presentKey: 'The array of past keys',
  presentValue: 'The array of past values',
  workers: 'The number of workers',
  dOutput: 'The gradient of the result',
};
