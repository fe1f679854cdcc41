/** Writes ONNX models: the few messages of onnx.proto3 that a graph of standard nodes needs. */

/**
 * @typedef {{ op: string, domain?: string, inputs: string[], output: string, attributes?: Record<string, number | number[]> }} Node
 * @typedef {{ name: string, shape: number[] }} Value
 * @typedef {Value & { data: Float32Array }} Constant
 * @typedef {{ opset: number, nodes: Node[], inputs: Value[], output: Value, constants: Constant[] }} Model
 */

const irVersion = 11;
const floatType = 1;
// Of AttributeProto: one float, one integer, a list of integers.
const attributeTypes = { float: 1, int: 2, ints: 7 };

/** The model as a protobuf message; all tensors are float32. */
export function writeModel(/** @type {Model} */ { opset, nodes, inputs, output, constants }) {
  const graph = [
    ...nodes.map((node) => bytes(1, nodeMessage(node))),
    text(2, 'attention'),
    ...constants.map((constant) => bytes(5, tensorMessage(constant))),
    ...inputs.map((value) => bytes(11, valueMessage(value))),
    bytes(12, valueMessage(output)),
  ];
  const domains = { '': opset, 'com.microsoft': 1 };
  return join([
    integer(1, irVersion),
    bytes(7, join(graph)),
    ...Object.entries(domains).map(([domain, version]) =>
      bytes(8, join([text(1, domain), integer(2, version)])),
    ),
  ]);
}

function nodeMessage(/** @type {Node} */ { op, domain = '', inputs, output, attributes = {} }) {
  return join([
    ...inputs.map((name) => text(1, name)),
    text(2, output),
    text(4, op),
    ...Object.entries(attributes).map(([name, value]) => bytes(5, attributeMessage(name, value))),
    text(7, domain),
  ]);
}

/** A number that is not whole is a float attribute. */
function attributeMessage(/** @type {string} */ name, /** @type {number | number[]} */ value) {
  if (Array.isArray(value)) {
    const items = value.map((item) => integer(8, item));
    return join([text(1, name), ...items, integer(20, attributeTypes.ints)]);
  }
  return Number.isInteger(value)
    ? join([text(1, name), integer(3, value), integer(20, attributeTypes.int)])
    : join([text(1, name), float(2, value), integer(20, attributeTypes.float)]);
}

function tensorMessage(/** @type {Constant} */ { name, shape, data }) {
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const dimensions = shape.map((extent) => integer(1, extent));
  return join([...dimensions, integer(2, floatType), text(8, name), bytes(9, raw)]);
}

function valueMessage(/** @type {Value} */ { name, shape }) {
  const dimensions = join(shape.map((extent) => bytes(1, integer(1, extent))));
  const tensor = join([integer(1, floatType), bytes(2, dimensions)]);
  return join([text(1, name), bytes(2, bytes(1, tensor))]);
}

// The wire format: a field is its number and wire type, then a varint, a length and bytes, or four
// bytes.
const varintType = 0;
const lengthType = 2;
const fourBytesType = 5;

const tag = (/** @type {number} */ field, /** @type {number} */ type) => varint(field * 8 + type);

function integer(/** @type {number} */ field, /** @type {number} */ value) {
  return join([tag(field, varintType), varint(value)]);
}

function text(/** @type {number} */ field, /** @type {string} */ value) {
  return bytes(field, new TextEncoder().encode(value));
}

function bytes(/** @type {number} */ field, /** @type {Uint8Array} */ content) {
  return join([tag(field, lengthType), varint(content.length), content]);
}

function float(/** @type {number} */ field, /** @type {number} */ value) {
  const content = new DataView(new ArrayBuffer(4));
  content.setFloat32(0, value, true);
  return join([tag(field, fourBytesType), new Uint8Array(content.buffer)]);
}

/** A whole number of at least 0, seven bits a byte, the lowest first. */
function varint(/** @type {number} */ value) {
  const out = [];
  let rest = value;
  while (rest >= 128) {
    out.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return new Uint8Array([...out, rest]);
}

function join(/** @type {Uint8Array[]} */ parts) {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
