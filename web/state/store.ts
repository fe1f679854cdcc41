/** A store: holds one state, takes actions, tells subscribers. */
import type { Action } from './reducer.ts';
import { reduce } from './reducer.ts';
import type { State } from './types.ts';

export type Listener = (state: State, previous: State) => void;

export interface Store {
  readonly state: State;
  dispatch(action: Action): void;
  /** Returns the function that ends the subscription. */
  subscribe(listener: Listener): () => void;
}

export function createStore(initial: State): Store {
  let state = initial;
  const listeners = new Set<Listener>();
  return {
    get state() {
      return state;
    },
    dispatch(action) {
      const previous = state;
      state = reduce(state, action);
      if (state === previous) return;
      for (const listener of [...listeners]) listener(state, previous);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
