import { z } from 'zod';

/**
 * The form in which a data set stores its vectors: with four bytes a component, or with two and less precision.
 * Little-endian.
 */
export const vectorTypeSchema = z.enum(['float32', 'float16']);
export type VectorType = z.infer<typeof vectorTypeSchema>;

/** The field of chunk hashes that holds a set of vectors, and their type. Data that is being reindexed has two sets. */
export const vectorSetSchema = z.object({ field: z.string(), type: vectorTypeSchema }).readonly();
export type VectorSet = z.infer<typeof vectorSetSchema>;

/** The vectors of a new data set. */
export const FIRST_VECTORS: VectorSet = { field: 'vector', type: 'float32' };

/** Encodes a vector as its chunk's hash holds it. */
export function encodeVector(vector: Float32Array, type: VectorType): Buffer {
  if (type === 'float32') return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  const halves = Uint16Array.from(vector, toHalf);
  return Buffer.from(halves.buffer);
}

export function decodeVector(bytes: Uint8Array, type: VectorType): Float32Array {
  const copy = new Uint8Array(bytes);
  if (type === 'float32') return new Float32Array(copy.buffer, 0, copy.byteLength / 4);
  return Float32Array.from(new Uint16Array(copy.buffer, 0, copy.byteLength / 2), fromHalf);
}

/**
 * The inner product of two vectors of the same length. `?? 0` reads numbers that
 * are there: a check would slow the loop down.
 */
export function innerProduct(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}

const scratch = new DataView(new ArrayBuffer(4));

/** Rounds to IEEE 754 binary16, to nearest with ties to even. The components of vectors are far below its largest number. */
function toHalf(value: number): number {
  scratch.setFloat32(0, value);
  const bits = scratch.getUint32(0);
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 112;
  const mantissa = bits & 0x7fffff;
  if (exponent >= 31) return sign | 0x7c00;
  if (exponent <= 0) {
    if (exponent < -10) return sign;
    return sign | roundShift(mantissa | 0x800000, 14 - exponent);
  }
  // A carry out of the mantissa raises the exponent, which is how rounding up to the next power of two works.
  return sign | ((exponent << 10) + roundShift(mantissa, 13));
}

function roundShift(value: number, shift: number): number {
  const kept = value >>> shift;
  const rest = value & ((1 << shift) - 1);
  const half = 1 << (shift - 1);
  return rest > half || (rest === half && (kept & 1) === 1) ? kept + 1 : kept;
}

function fromHalf(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 0x1f;
  const mantissa = half & 0x3ff;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  if (exponent === 31) return mantissa === 0 ? sign * Infinity : NaN;
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
}
