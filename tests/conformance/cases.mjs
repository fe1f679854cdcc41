/** Reads conformance cases, and compares what was computed with what they expect. */

/**
 * @typedef {{ shape: number[], data: (number | string)[], dtype?: string }} Tensor
 * @typedef {Record<string, { shape: number[], data: ArrayLike<number | string> }>} Outputs
 * @typedef {{ op: string, attributes: Record<string, number>, inputs: Record<string, Tensor> }} Node
 * @typedef {{ name: string, api: boolean, source: Node, expected: Record<string, Tensor>, tolerance: number }} Case
 */

const tolerance = 1e-6;

/**
 * The cases of a file: one object, or an array of cases from bug reports.
 * @param {string} file
 * @param {any} json
 * @returns {Case[]}
 */
export function readCases(file, json) {
  if (!Array.isArray(json)) {
    known(file, json, [
      'name',
      'op',
      'opset',
      'dtype',
      'source',
      'attributes',
      'inputs',
      'outputs',
    ]);
    const { name, op, attributes, inputs, outputs } = json;
    return [{ name, api: false, source: { op, attributes, inputs }, expected: outputs, tolerance }];
  }
  return json.map((item) => {
    known(file, item, ['id', 'kind', 'source', 'symptom', 'input', 'expected']);
    const { id, kind, input, expected } = item;
    if (kind !== 'numeric' && kind !== 'api') throw new Error(`${id}: unknown kind ${kind}`);
    const { convention, tolerance: own, alternatives, known_wrong, ...outputs } = expected;
    const { note, ...source } = input;
    return {
      name: id,
      api: kind === 'api',
      source,
      expected: outputs,
      tolerance: own ?? tolerance,
    };
  });
}

/** @type {(place: string, object: object, members: string[]) => void} */
function known(place, object, members) {
  const strange = Object.keys(object).filter((member) => !members.includes(member));
  if (strange.length > 0) throw new Error(`${place}: unknown member ${strange.join(', ')}`);
}

/**
 * The largest difference, and what is wrong in a sentence or an empty text.
 * @param {Case} item
 * @param {Outputs} found
 */
export function judge({ expected, tolerance: allowed }, found) {
  let worst = 0;
  let problem = '';
  for (const [name, right] of Object.entries(expected)) {
    const output = found[name];
    if (!output) return { worst: Number.NaN, problem: `there is no output ${name}` };
    if (String(output.shape) !== String(right.shape)) {
      return { worst: Number.NaN, problem: `${name} is [${output.shape}], not [${right.shape}]` };
    }
    if (output.data.length !== right.data.length) {
      return { worst: Number.NaN, problem: `${name} has ${output.data.length} numbers` };
    }
    for (const [i, text] of right.data.entries()) {
      const a = Number(output.data[i]);
      const b = Math.fround(Number(text));
      if (Object.is(a, b) || a === b) continue;
      const difference = Math.abs(a - b);
      // Written so that NaN is the worst of all.
      if (!(difference <= worst))
        worst = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference;
      if (!(difference <= allowed) && !problem) problem = `${name} at ${i}: ${a} instead of ${b}`;
    }
  }
  return { worst, problem };
}
