import { z } from 'zod';
import { at } from '../../at.js';
import { IngestError } from '../../errors.js';
import { BadReplyError } from '../../provider-http/bad-reply-error.js';

const listSchema = z.custom<readonly unknown[]>(Array.isArray);
const numbersSchema = z.custom<ArrayLike<unknown>>(
  (value) => Array.isArray(value) || value instanceof Float32Array || value instanceof Float64Array,
);

/** The vectors of a reply, one for each text, of unit length. @throws BadReplyError for anything else */
export function readVectors(
  reply: unknown,
  { count, dimensions }: { readonly count: number; readonly dimensions: number | undefined },
): Float32Array[] {
  const list = listSchema.safeParse(reply);
  if (!list.success) throw new BadReplyError('is no list of vectors');
  if (list.data.length !== count) {
    throw new BadReplyError(`has ${String(list.data.length)} vectors for ${String(count)} texts`);
  }
  const vectors = list.data.map(readVector);
  const length = dimensions ?? at(vectors, 0).length;
  if (length === 0) throw new BadReplyError('has vectors without numbers');
  const wrong = vectors.find((vector) => vector.length !== length);
  if (wrong) {
    throw new BadReplyError(`has a vector of ${String(wrong.length)} numbers instead of ${String(length)}`);
  }
  return vectors.map(normalize);
}

function readVector(value: unknown): Float32Array {
  const numbers = numbersSchema.safeParse(value);
  if (!numbers.success) throw new BadReplyError('has something that is no vector');
  return Float32Array.from(numbers.data, (each) => (typeof each === 'number' ? each : Number.NaN));
}

/** Scales a vector to unit length. One that cannot be scaled is the failure of its text alone, not of the whole reply. */
function normalize(vector: Float32Array): Float32Array {
  const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  if (!Number.isFinite(norm) || norm === 0) {
    throw new IngestError('provider', 'the embedding provider returned no usable vector');
  }
  return vector.map((value) => value / norm);
}

/** The similarity of two vectors of unit length. */
export function cosine(left: Float32Array, right: Float32Array): number {
  return left.reduce((sum, value, index) => sum + value * at(right, index), 0);
}
