import type { ValidationItem } from './errors.js';

/** A filter of a megabyte of mistakes is answered with this many. */
const MAX_ERRORS = 100;

export interface Parsing {
  conditions: number;
  readonly maxConditions: number;
  readonly errors: ValidationItem[];
}

/** Where in the filter the parser is. */
export interface Place {
  readonly parsing: Parsing;
  readonly loc: readonly (string | number)[];
  readonly depth: number;
}

export function isAbandoned({ parsing }: Place): boolean {
  return parsing.conditions > parsing.maxConditions || parsing.errors.length >= MAX_ERRORS;
}

export function inside(place: Place, key: string | number): Place {
  return { ...place, loc: [...place.loc, typeof key === 'string' ? key.slice(0, 256) : key] };
}

export function refuse({ parsing, loc }: Place, msg: string, type: string, limit?: number): null {
  parsing.errors.push({ loc, msg, type, ...(limit === undefined ? {} : { ctx: { limit_value: limit } }) });
  return null;
}
