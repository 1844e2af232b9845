// npy.js - NumPy's .npy files, as typed arrays. Row-major, little-endian; the types that the peer has.
'use strict';
const fs = require('fs');

const TYPES = {
  '<f4': ['float32', Float32Array],
  '<f8': ['float64', Float64Array],
  '<f2': ['float16', Uint16Array],
  '|i1': ['int8', Int8Array],
  '|u1': ['uint8', Uint8Array],
  '<i2': ['int16', Int16Array],
  '<u2': ['uint16', Uint16Array],
  '<i4': ['int32', Int32Array],
  '<u4': ['uint32', Uint32Array],
  '<i8': ['int64', BigInt64Array],
  '<u8': ['uint64', BigUint64Array],
  '|b1': ['bool', Uint8Array],
};
const DESCRIPTIONS = Object.fromEntries(Object.entries(TYPES).map(([description, [type]]) => [type, description]));

/** The typed array of an element type. */
function arrayOf(type) {
  return TYPES[DESCRIPTIONS[type]][1];
}

/** Reads FILE: {type, dims, data}. */
function read(file) {
  const bytes = fs.readFileSync(file);
  if (bytes.toString('latin1', 0, 6) !== '\x93NUMPY') throw new Error(`${file}: not an .npy file`);
  const wide = bytes[6] >= 2;
  const start = (wide ? 12 : 10) + (wide ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8));
  const header = bytes.toString('latin1', wide ? 12 : 10, start);
  const description = /'descr':\s*'([^']*)'/.exec(header)[1];
  if (/'fortran_order':\s*True/.test(header)) throw new Error(`${file}: column-major order is not supported`);
  const dims = (/'shape':\s*\(([^)]*)\)/.exec(header)[1].match(/\d+/g) || []).map(Number);
  if (!TYPES[description]) throw new Error(`${file}: element type ${description} is not supported`);
  const [type, Typed] = TYPES[description];
  const count = dims.reduce((a, b) => a * b, 1);
  const aligned = new Uint8Array(count * Typed.BYTES_PER_ELEMENT);
  aligned.set(bytes.subarray(start, start + aligned.length));
  return { type, dims, data: new Typed(aligned.buffer) };
}

/** Writes {type, dims, data} to FILE. */
function write(file, { type, dims, data }) {
  const shape = dims.length === 1 ? `(${dims[0]},)` : `(${dims.join(', ')})`;
  let header = `{'descr': '${DESCRIPTIONS[type]}', 'fortran_order': False, 'shape': ${shape}, }`;
  header = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + '\n';
  const prefix = Buffer.from(`\x93NUMPY\x01\x00__${header}`, 'latin1');
  prefix.writeUInt16LE(header.length, 8);
  fs.writeFileSync(file, Buffer.concat([prefix, Buffer.from(data.buffer, data.byteOffset, data.byteLength)]));
}

module.exports = { read, write, arrayOf };
