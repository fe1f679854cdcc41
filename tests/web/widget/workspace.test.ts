/** When a workspace computes: once a frame, what is long in slices beside, and never what is stale. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { liveSessionCount, type Session, type StageId } from '../../../web/core/index.ts';
import { initialState } from '../../../web/state/initial.ts';
import { problemFrom } from '../../../web/state/problem.ts';
import { reduce } from '../../../web/state/reducer.ts';
import type { InputId } from '../../../web/state/types.ts';
import { stepsASlice } from '../../../web/widget/whole-run.ts';
import { Workspace } from '../../../web/widget/workspace.ts';

const given = problemFrom({ inputs: { q: [[1, 0]], k: [[1, 0]], v: [[1, 2]] } });

/** What happened, in order: a turn of the event loop given to a run, a step of the core, numbers. */
let log: ('turn' | 'step' | 'numbers')[];
let workspace: Workspace;
/** Called at every turn that a run gets, before it goes on. */
let onTurn: () => void;

/** Node would give many messages to one port in a row; browsers do not. */
class Channel {
  readonly port1: { onmessage: (() => void) | null; close(): void } = {
    onmessage: null,
    close: () => {},
  };
  readonly port2 = {
    postMessage: () =>
      setImmediate(() => {
        log.push('turn');
        onTurn();
        this.port1.onmessage?.();
      }),
  };
}

beforeEach(async () => {
  log = [];
  onTurn = () => {};
  vi.stubGlobal('requestAnimationFrame', (frame: () => void) => setTimeout(frame));
  vi.stubGlobal('cancelAnimationFrame', clearTimeout);
  workspace = new Workspace(
    initialState('worked', given),
    () => given,
    async () => reduce,
  );
  await workspace.start({});
  await workspace.needWhole();
  await workspace.store.ready();
  vi.stubGlobal('MessageChannel', Channel);
  workspace.addEventListener('numbers', () => log.push('numbers'));
  const { whole } = workspace;
  if (!whole) throw new Error('no whole module');
  const create = whole.engine.createSession;
  vi.spyOn(whole.engine, 'createSession').mockImplementation(() => {
    const session = create();
    const run = session.run.bind(session);
    vi.spyOn(session, 'run').mockImplementation((first = 0, last = session.steps) => {
      for (let step = first; step < last; step += 1) log.push('step');
      run(first, last);
    });
    return session;
  });
});

afterEach(() => {
  workspace.release();
  vi.unstubAllGlobals();
  expect(liveSessionCount()).toBe(0);
});

/** Gives an input so many rows of `cols` numbers that differ from each other. */
function give(stage: InputId, rows: number, cols: number): void {
  const values = Float32Array.from({ length: rows * cols }, (_, at) => Math.sin(at + rows));
  workspace.store.dispatch({ type: 'matrix', stage, rows, cols, values });
}

function giveAll(tokens: number): void {
  for (const stage of ['q', 'k', 'v'] as const) give(stage, tokens, 64);
}

const numbers = (): Promise<void> =>
  new Promise((resolve) => {
    workspace.addEventListener('numbers', () => resolve(), { once: true });
  });

const frame = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

const turns = (count: number): Promise<void> =>
  new Promise((resolve) => {
    onTurn = () => {
      count -= 1;
      if (count === 0) resolve();
    };
  });

/** The same inputs in a session that runs them in one go. */
function inOneGo(stage: StageId): Float32Array {
  const session = workspace.whole?.engine.createSession() as Session;
  const { computed } = workspace;
  if (!computed) throw new Error('nothing is computed');
  session.configure({ ...computed.sizes, source: 'qkv' });
  for (const id of ['q', 'k', 'v'] as const) session.setInput(id, computed.inputs[id] ?? []);
  session.run();
  const values = session.view(stage).slice();
  session.dispose();
  return values;
}

test('the example is fallen back on once, and again after the next start', () => {
  expect(workspace.fallBack()).toBe(given);
  expect(workspace.fallBack()).toBeNull();
  workspace.release();
  expect(workspace.fallBack()).toBe(given);
});

test('many changes in a frame are one run, on the session that there is', async () => {
  const { session, revision } = workspace;
  const run = vi.spyOn(session as Session, 'run');
  for (let text = 1; text <= 5; text += 1) {
    const edit = { type: 'edit', stage: 'q', row: 0, col: 0, text: String(text) } as const;
    workspace.store.dispatch(edit);
  }
  expect(run).not.toHaveBeenCalled();
  await numbers();
  expect(run).toHaveBeenCalledTimes(1);
  expect(workspace.session).toBe(session);
  expect(workspace.revision).toBe(revision + 1);
  // 5·1 + 0·0
  expect(workspace.session?.view('rawScores')[0]).toBe(5);
});

test('a long run gives the thread back after every few steps, and shows the former numbers', async () => {
  const { revision } = workspace;
  const before = workspace.session?.view('heads').slice();
  giveAll(512);
  onTurn = () => {
    expect(workspace.revision).toBe(revision);
    expect(workspace.session?.view('heads').slice()).toEqual(before);
    expect(workspace.computed).toBe(given);
  };
  await numbers();
  onTurn = () => {};
  const slices = log.join('').split('turn').slice(1);
  // Of raw scores alone 512 · 512 · 64 multiply-adds are 8 steps of 2²¹; heads are as many.
  expect(log.filter((what) => what === 'step').length).toBeGreaterThanOrEqual(16 + 8);
  expect(slices.length).toBeGreaterThan(2);
  for (const slice of slices) {
    expect(slice.split('step').length - 1).toBeLessThanOrEqual(stepsASlice);
  }
  expect(log.filter((what) => what === 'numbers')).toHaveLength(1);
  expect(workspace.revision).toBe(revision + 1);
  expect(workspace.longRun).toBeNull();
  expect(workspace.whole?.session).toBe(workspace.session);
  expect(workspace.computed).toBe(workspace.store.state.problem);
  expect(liveSessionCount()).toBe(1);
  expect(workspace.session?.view('heads').slice()).toEqual(inOneGo('heads'));
});

test('a newer problem drops the run: only the last is ever shown', async () => {
  giveAll(512);
  await turns(6);
  expect(log).toContain('step');
  const [first] = [workspace.longRun];
  give('q', 480, 64);
  expect(workspace.longRun).toBeNull();
  expect(liveSessionCount()).toBe(1);
  await turns(5);
  give('q', 448, 64);
  await numbers();
  await first?.ended;
  await frame();
  expect(log.filter((what) => what === 'numbers')).toHaveLength(1);
  expect(workspace.session?.shape('weights')).toMatchObject({ rows: 448, cols: 512 });
  expect(liveSessionCount()).toBe(1);
});

test('going back to what is shown ends the run without another', async () => {
  giveAll(512);
  await turns(6);
  const run = workspace.longRun;
  for (let steps = 0; steps < 3; steps += 1) workspace.store.dispatch({ type: 'undo' });
  await run?.ended;
  await frame();
  expect(log).not.toContain('numbers');
  expect(workspace.longRun).toBeNull();
  expect(workspace.computed).toBe(given);
  expect(liveSessionCount()).toBe(1);
});

test('a run that the core refuses leaves the former problem and says why', async () => {
  // 1024² scores of 16 batches, 64 MB, in six stages are more than the 256 MB of an arena.
  workspace.store.dispatch({ type: 'resize', sizes: { batch: 16, tq: 1024, tk: 1024 } });
  await frame();
  await workspace.longRun?.ended;
  expect(workspace.store.state.problem).toBe(given);
  expect(JSON.stringify(workspace.store.state.drafts)).toMatch(/These sizes need/);
  expect(log).not.toContain('numbers');
  expect(liveSessionCount()).toBe(1);
});
