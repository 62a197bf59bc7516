import type { ValidationItem } from '../errors.js';

/** Bytes of all keys and values as JSON: a thousand ids of 256 characters, the longest possible, fit. */
export const MAX_FILTER_BYTES = 262_144;

/** A filter with more mistakes is answered with this many. */
const MAX_ERRORS = 100;

export interface Parsing {
  conditions: number;
  readonly maxConditions: number;
  /** Bytes of the keys and values so far, as JSON. */
  bytes: number;
  readonly errors: ValidationItem[];
}

/** The place in the filter that is being parsed. */
export interface Place {
  readonly parsing: Parsing;
  readonly loc: readonly (string | number)[];
  readonly depth: number;
}

export function isAbandoned({ parsing }: Place): boolean {
  const { conditions, maxConditions, bytes, errors } = parsing;
  return conditions > maxConditions || bytes > MAX_FILTER_BYTES || errors.length >= MAX_ERRORS;
}

export function inside(place: Place, key: string | number): Place {
  return { ...place, loc: [...place.loc, typeof key === 'string' ? key.slice(0, 256) : key] };
}

export function refuse({ parsing, loc }: Place, msg: string, type: string, limit?: number): null {
  parsing.errors.push({ loc, msg, type, ...(limit === undefined ? {} : { ctx: { limit_value: limit } }) });
  return null;
}

/** Counts a key or a value. @returns false when the filter has grown too large, which is refused once */
export function countBytes({ parsing, depth }: Place, value: string | number | boolean | null): boolean {
  const wasWithin = parsing.bytes <= MAX_FILTER_BYTES;
  // One more for the character that separates it from the next.
  parsing.bytes += bytesOf(value) + 1;
  if (parsing.bytes <= MAX_FILTER_BYTES) return true;
  const msg = `ensure filters have at most ${String(MAX_FILTER_BYTES)} bytes of JSON`;
  if (wasWithin) refuse({ parsing, depth, loc: ['filters'] }, msg, 'value_error', MAX_FILTER_BYTES);
  return false;
}

function bytesOf(value: string | number | boolean | null): number {
  if (typeof value !== 'string') return String(value).length;
  // A text that is too long anyway need not be encoded.
  return value.length > MAX_FILTER_BYTES ? value.length : Buffer.byteLength(JSON.stringify(value));
}
