/** The state a lab starts from; attributes, addresses and lessons override parts of it. */
import type { Problem, State } from './types.ts';

export const initialState = (preset: string, problem: Problem): State => ({
  preset,
  problem,
  past: [],
  future: [],
  drafts: {},
  format: { mode: 'decimals', digits: 4 },
  pinned: null,
  shown: { batch: 0, head: 0 },
  reading: 'machine',
  lab: { source: 'random', dK: 64, seed: 1, row: 0 },
  notice: '',
});
