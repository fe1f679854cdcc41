/** The builds of this project, through the published API in lib/. */

/** @typedef {import('../../../web/core/types.ts').Build} Build */

// In a variable, because lib/ need not be built when types are checked.
const library = '../../../lib/core/index.js';

/** @returns {Promise<typeof import('../../../web/core/index.ts')>} */
export const core = () => import(library);

/** @type {(build: Build) => import('./contestant.mjs').Contestant} */
const staged = (build) => ({
  name: `staged-${build}`,
  role: 'ours',
  peak: build,
  async prepare({ heads, tq, tk, d, causal, resident }, { q, k, v }) {
    const engine = await (await core()).load({ build });
    const session = engine.createSession();
    session.configure({ heads, kvHeads: heads, tq, tk, dK: d, dV: d, causal, source: 'qkv' });
    session.setInput('k', k);
    session.setInput('v', v);
    return {
      run() {
        session.setInput('q', q);
        if (!resident) {
          session.setInput('k', k);
          session.setInput('v', v);
        }
        session.run();
        return session.view('heads').slice();
      },
    };
  },
});

/** @type {(build: Build) => import('./contestant.mjs').Contestant} */
const fused = (build) => ({
  name: `fused-${build}`,
  role: 'ours',
  peak: build,
  async prepare({ heads, tq, tk, d, causal, resident }, { q, k, v }) {
    const engine = await (await core()).load({ build });
    const attention = engine.createAttention({
      heads,
      kvHeads: heads,
      tq,
      tk,
      dK: d,
      dV: d,
      causal,
    });
    attention.setInput('k', k);
    attention.setInput('v', v);
    return {
      run() {
        attention.setInput('q', q);
        if (!resident) {
          attention.setInput('k', k);
          attention.setInput('v', v);
        }
        attention.run();
        return attention.output.slice();
      },
      memory: () => engine.memory().total,
    };
  },
});

/** Everything is sent to the workers and comes back each time. @type {(build: Build) => import('./contestant.mjs').Contestant} */
const twoWorkers = (build) => ({
  name: `workers-${build}`,
  role: 'ours',
  peak: build,
  async prepare({ heads, tq, tk, d, causal }, inputs) {
    const { attendAsync, load } = await core();
    const engine = await load({ build });
    const config = { heads, kvHeads: heads, tq, tk, dK: d, dV: d, causal };
    return { run: () => attendAsync(engine, inputs, config, { workers: 2 }) };
  },
});

export const inWorkers = [twoWorkers('relaxed'), twoWorkers('simd128')];
export const ours = [fused('relaxed'), fused('simd128'), staged('relaxed'), staged('simd128')];
