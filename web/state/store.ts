/** A store: holds one state, takes actions, tells subscribers. */
import type { Action } from './reducer.ts';
import type { State } from './types.ts';

export type Listener = (state: State, previous: State) => void;
export type Reduce = (state: State, action: Action) => State;

export interface Store {
  readonly state: State;
  /** Takes the action at once, or, before the reducer is there, in its turn when it is. */
  dispatch(action: Action): void;
  /** Does at once, or in its turn like an action, what may dispatch some. */
  inTurn(act: () => void): void;
  /** Fetches the reducer, unless it is there; resolves when everything so far was done. */
  ready(): Promise<void>;
  /** Whether there is something that was not done yet. */
  readonly isWaiting: boolean;
  /** Returns the function that ends the subscription. */
  subscribe(listener: Listener): () => void;
}

/** What is said when something that is fetched later did not come. */
export const partMissing = (error: unknown): string =>
  `A part of the page could not be loaded (${(error as Error).message}).`;

/** `fetchReducer` is asked when something is to change: showing the first state needs no reducer. */
export function createStore(initial: State, fetchReducer: () => Promise<Reduce>): Store {
  let state = initial;
  let reduce: Reduce | null = null;
  let fetching: Promise<void> | null = null;
  const waiting: (() => void)[] = [];
  const listeners = new Set<Listener>();

  const become = (next: State): void => {
    const previous = state;
    state = next;
    if (state === previous) return;
    for (const listener of [...listeners]) listener(state, previous);
  };

  const fetch = async (): Promise<void> => {
    try {
      reduce = await fetchReducer();
    } catch (error) {
      fetching = null;
      become({ ...state, notice: partMissing(error) });
      return;
    }
    for (const act of waiting.splice(0)) act();
  };

  const ready = (): Promise<void> => {
    fetching ??= fetch();
    return fetching;
  };

  const inTurn = (act: () => void): void => {
    if (reduce) {
      act();
    } else {
      waiting.push(act);
      void ready();
    }
  };

  return {
    get state() {
      return state;
    },
    dispatch: (action) => inTurn(() => become((reduce as Reduce)(state, action))),
    inTurn,
    ready,
    get isWaiting() {
      return waiting.length > 0 && fetching !== null;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
