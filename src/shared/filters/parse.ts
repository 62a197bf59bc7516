import type { ValidationItem } from '../errors.js';
import { NOT_EXACT, isPlainObject } from '../json-values.js';
import { parseInstant } from './instants.js';
import { asCompared } from './paths.js';
import { parseRelativeDate } from './relative-dates.js';

export const MAX_CONDITIONS = 64;
export const MAX_DEPTH = 8;
/** The most values of one list of `$in` or `$nin`. */
export const MAX_LIST_VALUES = 1_000;
/** The most texts that one filter looks for within others: each takes up to 57 microseconds in 16 KiB of metadata. */
const MAX_SOUGHT_TEXTS = 8;
/** In UTF-16 units. A text of 1,000 takes fifty times as long in the worst case. */
export const MAX_SOUGHT_CHARACTERS = 256;

export type Scalar = string | number | boolean | null;
export type Comparison = 'gt' | 'gte' | 'lt' | 'lte';

/** A parsed filter, as plain data. An `and` of nothing is true. On a list, the leaves mean "some element". */
export type Filter =
  | { readonly type: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly type: 'not'; readonly filter: Filter }
  /** The value is one of these, and of the same type. */
  | { readonly type: 'equals'; readonly path: string; readonly values: readonly Scalar[] }
  | { readonly type: 'exists'; readonly path: string }
  /** The value is a text that begins with this one. */
  | { readonly type: 'startsWith'; readonly path: string; readonly text: string }
  /** The value is a text that holds one of these, or a list that has one of them as an element. */
  | { readonly type: 'contains'; readonly path: string; readonly values: readonly Scalar[] }
  | {
      readonly type: 'compare';
      readonly path: string;
      readonly comparison: Comparison;
      readonly operand: Operand;
    };

/** A value that has an order. An instant is in milliseconds since 1970. */
export interface Operand {
  readonly type: 'number' | 'instant';
  readonly value: number;
}

/**
 * Parses a client's filter; null, undefined and `{}` mean no filter. Each `loc` starts with `filters`, so
 * that the caller has to put the filter's own place in front.
 * @param now the moment that relative dates count from, in milliseconds since 1970
 */
export function parseFilter(
  value: unknown,
  now = Date.now(),
): { filter: Filter | null } | { errors: ValidationItem[] } {
  if (value === null || value === undefined) return { filter: null };
  const parsing: Parsing = {
    now,
    conditions: 0,
    maxConditions: MAX_CONDITIONS,
    soughtTexts: 0,
    bytes: 0,
    errors: [],
  };
  const filter = parseObject(value, { parsing, loc: ['filters'], depth: 0 });
  if (filter === null || parsing.errors.length > 0) return { errors: parsing.errors };
  return { filter: isTrue(filter) ? null : filter };
}

/** The keys of one object are combined with AND. Like all functions below, it returns null when something was refused. */
function parseObject(value: unknown, place: Place): Filter | null {
  if (!isPlainObject(value)) return refuse(place, 'value is not a valid dict', 'type_error.dict');
  const keys = Object.keys(value);
  if (keys.length === 0) return countCondition(place, { type: 'and', filters: [] });
  return parseEach(keys, 'and', place, (key) => parseKey(key, value[key], inside(place, key)));
}

function parseKey(key: string, value: unknown, place: Place): Filter | null {
  if (!countBytes(place, key)) return null;
  if (key === '$and' || key === '$or') return parseAlternatives(key === '$and' ? 'and' : 'or', value, place);
  if (key === '$not') return negate(descend(place, (deeper) => parseObject(value, deeper)));
  if (key.startsWith('$')) return refuseOperator(place, key);
  if (!isPlainObject(value)) return parseEquals(key, value, place);
  return parseOperators(key, value, place);
}

function parseAlternatives(type: 'and' | 'or', value: unknown, place: Place): Filter | null {
  if (!Array.isArray(value)) return refuse(place, 'value is not a valid list', 'type_error.list');
  const parts: readonly unknown[] = value;
  if (parts.length === 0) {
    return refuse(place, 'ensure this value has at least 1 items', 'value_error.list.min_items', 1);
  }
  return descend(place, (deeper) =>
    parseEach([...parts.keys()], type, deeper, (index) => parseObject(parts[index], inside(deeper, index))),
  );
}

/** The operators of one key are combined with AND: `{"$gte": 1, "$lt": 5}`. */
function parseOperators(path: string, operators: Record<string, unknown>, place: Place): Filter | null {
  const names = Object.keys(operators);
  if (names.length === 0) return refuse(place, 'a condition needs an operator', 'value_error');
  return parseEach(names, 'and', place, (name) =>
    parseOperator(path, name, operators[name], inside(place, name)),
  );
}

function parseOperator(path: string, name: string, value: unknown, place: Place): Filter | null {
  if (!countBytes(place, name)) return null;
  switch (name) {
    case '$eq':
      return parseEquals(path, value, place);
    case '$ne':
      return negate(parseEquals(path, value, place));
    case '$in':
      return parseIn(path, value, place);
    case '$nin':
      return negate(parseIn(path, value, place));
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return parseComparison(path, COMPARISONS[name], value, place);
    case '$exists':
      return parseExists(path, value, place);
    case '$startsWith':
      return parseStartsWith(path, value, place);
    case '$contains':
      return parseContains(path, [[value, place]], place);
    case '$containsAny':
      return parseContainsAny(path, value, place);
    case '$not':
      return negate(descend(place, (deeper) => parseNegated(path, value, deeper)));
    default:
      return refuseOperator(place, name);
  }
}

/** The operators that compare by order. */
export const COMPARISONS = { $gt: 'gt', $gte: 'gte', $lt: 'lt', $lte: 'lte' } as const;

/** `{"key": {"$not": {"$gt": 5}}}` */
function parseNegated(path: string, value: unknown, place: Place): Filter | null {
  if (!isPlainObject(value)) return refuse(place, 'value is not a valid dict', 'type_error.dict');
  return parseOperators(path, value, place);
}

function parseEquals(path: string, value: unknown, place: Place): Filter | null {
  if (Array.isArray(value)) return refuse(place, 'a list is no condition, use $in', 'value_error');
  if (!isScalar(value)) return refuseScalar(place, value);
  if (!countBytes(place, value)) return null;
  return countCondition(place, { type: 'equals', path, values: [asCompared(path, value)] });
}

function parseIn(path: string, value: unknown, place: Place): Filter | null {
  if (!Array.isArray(value)) return refuse(place, 'value is not a valid list', 'type_error.list');
  if (value.length > MAX_LIST_VALUES) return refuseLength(place, MAX_LIST_VALUES);
  const values: Scalar[] = [];
  for (const [index, element] of value.entries()) {
    if (!isScalar(element)) refuseScalar(inside(place, index), element);
    else if (countBytes(place, element)) values.push(asCompared(path, element));
    if (isAbandoned(place)) return null;
  }
  return countCondition(place, { type: 'equals', path, values });
}

function refuseLength(place: Place, limit: number): null {
  const msg = `ensure this value has at most ${String(limit)} items`;
  return refuse(place, msg, 'value_error.list.max_items', limit);
}

function parseStartsWith(path: string, value: unknown, place: Place): Filter | null {
  if (typeof value !== 'string') return refuse(place, 'str type expected', 'type_error.str');
  if (value === '') return refuseEmpty(place);
  if (!countBytes(place, value)) return null;
  return countCondition(place, { type: 'startsWith', path, text: asCompared(path, value) });
}

function parseContainsAny(path: string, value: unknown, place: Place): Filter | null {
  if (!Array.isArray(value)) return refuse(place, 'value is not a valid list', 'type_error.list');
  if (value.length > MAX_CONDITIONS) return refuseLength(place, MAX_CONDITIONS);
  const values: readonly unknown[] = value;
  const sought = values.map((each, index) => [each, inside(place, index)] as const);
  return parseContains(path, sought, place);
}

/** Each of the values is a condition, since each is looked for by itself. */
function parseContains(
  path: string,
  sought: readonly (readonly [value: unknown, place: Place])[],
  place: Place,
): Filter | null {
  const values: Scalar[] = [];
  for (const [value, placeOfValue] of sought) {
    const parsed = parseSought(path, value, placeOfValue);
    if (parsed !== undefined) values.push(parsed);
    if (isAbandoned(place)) return null;
  }
  const filter: Filter = { type: 'contains', path, values };
  return sought.length === 0 ? countCondition(place, filter) : filter;
}

/** Returns undefined when the value was refused. */
function parseSought(path: string, value: unknown, place: Place): Scalar | undefined {
  if (!isScalar(value)) refuseScalar(place, value);
  else if (value === '') refuseEmpty(place);
  else if (typeof value === 'string' && value.length > MAX_SOUGHT_CHARACTERS) refuseLong(place);
  else if (countBytes(place, value) && countSought(place, value)) return asCompared(path, value);
  return undefined;
}

function countSought(place: Place, value: Scalar): boolean {
  const { parsing } = place;
  if (countCondition(place, NOTHING) === null) return false;
  if (typeof value !== 'string') return true;
  parsing.soughtTexts += 1;
  const limit = MAX_SOUGHT_TEXTS;
  const msg = `ensure filters look for at most ${String(limit)} texts by $contains and $containsAny`;
  // Refused once, however many follow.
  if (parsing.soughtTexts === limit + 1) refuse({ ...place, loc: ['filters'] }, msg, 'value_error', limit);
  return parsing.soughtTexts <= limit;
}

/** Stands for one value of a condition, where conditions are counted. */
const NOTHING: Filter = { type: 'or', filters: [] };

/** Every text begins with an empty one and holds it, which nobody asks for on purpose. */
const refuseEmpty = (place: Place): null =>
  refuse(place, 'ensure this value has at least 1 characters', 'value_error.any_str.min_length', 1);

function refuseLong(place: Place): null {
  const limit = MAX_SOUGHT_CHARACTERS;
  const msg = `ensure this value has at most ${String(limit)} characters`;
  return refuse(place, msg, 'value_error.any_str.max_length', limit);
}

function parseComparison(path: string, comparison: Comparison, value: unknown, place: Place): Filter | null {
  const operand = parseOperand(value, place.parsing.now);
  if (isInexact(value)) return refuseInexact(place);
  if (!operand) return refuse(place, NO_OPERAND, 'type_error');
  if (!countBytes(place, operand.value)) return null;
  return countCondition(place, { type: 'compare', path, comparison, operand });
}

const NO_OPERAND = 'value is not a number, an ISO 8601 date or a relative one such as now-7d';

function parseOperand(value: unknown, now: number): Operand | null {
  if (typeof value === 'number' && Number.isFinite(value)) return { type: 'number', value };
  const instant = typeof value === 'string' ? (parseInstant(value) ?? parseRelativeDate(value, now)) : null;
  return instant === null ? null : { type: 'instant', value: instant };
}

function parseExists(path: string, value: unknown, place: Place): Filter | null {
  if (typeof value !== 'boolean') {
    return refuse(place, 'value could not be parsed to a boolean', 'type_error.bool');
  }
  const filter = countCondition(place, { type: 'exists', path });
  return value ? filter : negate(filter);
}

/** Parses all parts, so that every mistake is listed, and stops once a limit is exceeded. */
function parseEach<Part>(
  parts: readonly Part[],
  type: 'and' | 'or',
  place: Place,
  parse: (part: Part) => Filter | null,
): Filter | null {
  const filters: Filter[] = [];
  for (const part of parts) {
    const filter = parse(part);
    if (filter) filters.push(filter);
    if (isAbandoned(place)) return null;
  }
  if (filters.length < parts.length) return null;
  const [only] = filters;
  return filters.length === 1 && only ? only : { type, filters };
}

function descend(place: Place, parse: (deeper: Place) => Filter | null): Filter | null {
  if (place.depth < MAX_DEPTH) return parse({ ...place, depth: place.depth + 1 });
  const limit = MAX_DEPTH;
  return refuse(place, `ensure filters are at most ${String(limit)} levels deep`, 'value_error', limit);
}

/** Counts a condition. Nested `{}` counts too, so that the limit bounds the work of a filter. */
function countCondition({ parsing, depth }: Place, filter: Filter): Filter | null {
  parsing.conditions += 1;
  if (parsing.conditions <= MAX_CONDITIONS) return filter;
  const limit = MAX_CONDITIONS;
  const msg = `ensure filters have at most ${String(limit)} conditions`;
  return refuse({ parsing, depth, loc: ['filters'] }, msg, 'value_error', limit);
}

function negate(filter: Filter | null): Filter | null {
  return filter && { type: 'not', filter };
}

function isTrue(filter: Filter): boolean {
  return filter.type === 'and' && filter.filters.length === 0;
}

function refuseOperator(place: Place, name: string): null {
  return refuse(place, `unknown operator ${name.slice(0, 64)}`, 'value_error');
}

function refuseScalar(place: Place, value: unknown): null {
  if (isInexact(value)) return refuseInexact(place);
  return refuse(place, 'value is not a string, number, boolean or null', 'type_error');
}

/** Infinity stands for a number that a double would change; see `json-values.ts`. */
const isInexact = (value: unknown): boolean => typeof value === 'number' && !Number.isFinite(value);

const refuseInexact = (place: Place): null => refuse(place, NOT_EXACT.msg, NOT_EXACT.type);

function isScalar(value: unknown): value is Scalar {
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

/** Bytes of all keys and values as JSON: a thousand ids of 256 characters, the longest possible, fit. */
export const MAX_FILTER_BYTES = 262_144;

/** A filter with more mistakes is answered with this many. */
const MAX_ERRORS = 100;

interface Parsing {
  readonly now: number;
  conditions: number;
  readonly maxConditions: number;
  /** Texts to look for within others, so far. */
  soughtTexts: number;
  /** Bytes of the keys and values so far, as JSON. */
  bytes: number;
  readonly errors: ValidationItem[];
}

/** The place in the filter that is being parsed. */
interface Place {
  readonly parsing: Parsing;
  readonly loc: readonly (string | number)[];
  readonly depth: number;
}

function isAbandoned({ parsing }: Place): boolean {
  const { conditions, maxConditions, bytes, errors } = parsing;
  return conditions > maxConditions || bytes > MAX_FILTER_BYTES || errors.length >= MAX_ERRORS;
}

function inside(place: Place, key: string | number): Place {
  return { ...place, loc: [...place.loc, typeof key === 'string' ? key.slice(0, 256) : key] };
}

function refuse({ parsing, loc }: Place, msg: string, type: string, limit?: number): null {
  parsing.errors.push({ loc, msg, type, ...(limit === undefined ? {} : { ctx: { limit_value: limit } }) });
  return null;
}

/** Counts a key or a value. @returns false when the filter has grown too large, which is refused once */
function countBytes({ parsing, depth }: Place, value: string | number | boolean | null): boolean {
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
