import { closeSync, openSync, writeSync } from 'node:fs';
import { toHalves } from './halves.js';

/** A value of the file's metadata, with the type that it has there. */
export type GgufValue =
  | { readonly type: 'uint32' | 'float32'; readonly value: number }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'strings'; readonly value: readonly (string | Uint8Array)[] }
  | { readonly type: 'int32s' | 'float32s'; readonly value: readonly number[] };

/** Named weights: `shape` has the fastest running dimension first, `values` is asked once, in the order of the file. */
export interface GgufTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: 'float32' | 'float16';
  readonly values: () => Float32Array;
}

export interface GgufContent {
  readonly metadata: Readonly<Record<string, GgufValue>>;
  readonly tensors: readonly GgufTensor[];
}

const ALIGNMENT = 32;
const TENSOR_TYPES = { float32: 0, float16: 1 };
const BYTES_EACH = { float32: 4, float16: 2 };
const aligned = (length: number) => Math.ceil(length / ALIGNMENT) * ALIGNMENT;
const countOf = ({ shape }: GgufTensor) => shape.reduce((product, size) => product * size, 1);
const byteLengthOf = (tensor: GgufTensor) => countOf(tensor) * BYTES_EACH[tensor.type];

/** Writes a file in version 3 of the format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md */
export function writeGguf(path: string, { metadata, tensors }: GgufContent): void {
  const header = encodeHeader(metadata, tensors);
  const file = openSync(path, 'w');
  try {
    writeSync(file, Buffer.concat([header, Buffer.alloc(aligned(header.length) - header.length)]));
    for (const tensor of tensors) {
      const bytes = encodeWeights(tensor);
      writeSync(file, bytes);
      writeSync(file, Buffer.alloc(aligned(bytes.length) - bytes.length));
    }
  } finally {
    closeSync(file);
  }
}

function encodeHeader(metadata: Readonly<Record<string, GgufValue>>, tensors: readonly GgufTensor[]): Buffer {
  const entries = Object.entries(metadata);
  const parts = [Buffer.from('GGUF'), uint32(3), uint64(tensors.length), uint64(entries.length)];
  for (const [key, value] of entries) parts.push(string(key), encodeValue(value));
  let offset = 0;
  for (const tensor of tensors) {
    const { name, shape, type } = tensor;
    parts.push(
      string(name),
      uint32(shape.length),
      ...shape.map(uint64),
      uint32(TENSOR_TYPES[type]),
      uint64(offset),
    );
    offset += aligned(byteLengthOf(tensor));
  }
  return Buffer.concat(parts);
}

/** The number of its type in the format, and the value; an array is type 9 with the type and number of its items. */
function encodeValue(entry: GgufValue): Buffer {
  switch (entry.type) {
    case 'uint32':
      return Buffer.concat([uint32(4), uint32(entry.value)]);
    case 'float32':
      return Buffer.concat([uint32(6), float32(entry.value)]);
    case 'boolean':
      return Buffer.concat([uint32(7), Buffer.of(Number(entry.value))]);
    case 'string':
      return Buffer.concat([uint32(8), string(entry.value)]);
    case 'strings':
      return encodeArray(8, entry.value.map(string));
    case 'int32s':
      return encodeArray(5, entry.value.map(int32));
    case 'float32s':
      return encodeArray(6, entry.value.map(float32));
  }
}

const encodeArray = (type: number, items: readonly Buffer[]) =>
  Buffer.concat([uint32(9), uint32(type), uint64(items.length), ...items]);

function encodeWeights(tensor: GgufTensor): Buffer {
  const values = tensor.values();
  if (values.length !== countOf(tensor))
    throw new Error(`${tensor.name} has ${String(values.length)} weights`);
  const encoded = tensor.type === 'float16' ? toHalves(values) : values;
  return Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function float32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function string(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}
