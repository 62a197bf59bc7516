import type { FilterableDocument, Json } from '../document.js';
import { createInstantMemo } from './instants.js';
import type { Comparison, Filter, Operand, Scalar } from './parse.js';
import { createPathReader, MAX_METADATA_DEPTH } from './paths.js';

export type DocumentPredicate = (document: FilterableDocument) => boolean;
type ValuePredicate = (value: Json | undefined) => boolean;

const instantsOf = createInstantMemo();

const compiled = new WeakMap<Filter, DocumentPredicate>();

export function matchesFilter(document: FilterableDocument, filter: Filter): boolean {
  const known = compiled.get(filter);
  if (known) return known(document);
  const predicate = compileFilter(filter);
  compiled.set(filter, predicate);
  return predicate(document);
}

/** Compiles a filter for comparing it with many documents. */
export function compileFilter(filter: Filter): DocumentPredicate {
  switch (filter.type) {
    case 'and': {
      const parts = filter.filters.map(compileFilter);
      return (document) => parts.every((holds) => holds(document));
    }
    case 'or': {
      const parts = filter.filters.map(compileFilter);
      return (document) => parts.some((holds) => holds(document));
    }
    case 'not': {
      const holds = compileFilter(filter.filter);
      return (document) => !holds(document);
    }
    case 'exists': {
      const read = createPathReader(filter.path);
      return (document) => read(document) !== undefined;
    }
    case 'equals':
      return someElement(filter.path, isOneOf(filter.values));
    case 'startsWith': {
      const { text } = filter;
      return someElement(filter.path, (value) => typeof value === 'string' && value.startsWith(text));
    }
    case 'contains':
      return containsOneOf(filter.path, filter.values);
    case 'compare':
      return compareWith(filter.path, filter.comparison, filter.operand);
  }
}

function containsOneOf(path: string, values: readonly Scalar[]): DocumentPredicate {
  const read = createPathReader(path);
  const isElement = isOneOf(values);
  const texts = values.filter((value) => typeof value === 'string');
  return (document) => {
    const value = read(document);
    if (Array.isArray(value)) return value.some(isElement);
    return typeof value === 'string' && texts.some((text) => holdsText(value, text));
  };
}

/** Shorter texts are looked for by `includes` in a way that took 120 microseconds for `ab` in 16 KiB of `a`. */
const SHORT_TEXT = 8;

const holdsText = (value: string, text: string): boolean =>
  text.length < SHORT_TEXT ? value.lastIndexOf(text) >= 0 : value.includes(text);

function someElement(path: string, holds: ValuePredicate): DocumentPredicate {
  const read = createPathReader(path);
  return (document) => {
    const value = read(document);
    return Array.isArray(value) ? value.some(holds) : holds(value);
  };
}

function isOneOf(values: readonly Scalar[]): ValuePredicate {
  const [only] = values;
  if (values.length === 1) return (value) => value === only;
  const set = new Set<Json | undefined>(values);
  return (value) => set.has(value);
}

function compareWith(
  path: string,
  comparison: Comparison,
  { type, value: bound }: Operand,
): DocumentPredicate {
  const holds = COMPARISONS[comparison];
  if (type === 'number')
    return someElement(path, (value) => typeof value === 'number' && holds(value, bound));
  const read = createPathReader(path);
  return (document) => {
    const value = read(document);
    if (Array.isArray(value))
      return instantsOf(document)
        .ofList(value)
        .some((each) => holds(each, bound));
    return typeof value === 'string' && holds(instantsOf(document).ofText(value), bound);
  };
}

const COMPARISONS: Readonly<Record<Comparison, (value: number, bound: number) => boolean>> = {
  gt: (value, bound) => value > bound,
  gte: (value, bound) => value >= bound,
  lt: (value, bound) => value < bound,
  lte: (value, bound) => value <= bound,
};

/** Bytes of a closure, of an object and of their places in lists. */
const NODE_BYTES = 256;
/** Bytes of a value's place in a set and of the header of a string. */
const VALUE_BYTES = 64;
/** Bytes of one step of a path, which is two strings that are views of the path. */
const STEP_BYTES = 128;

/** Estimates the heap that a compiled filter takes, rather too high than too low. */
export function bytesOfFilter(filter: Filter): number {
  switch (filter.type) {
    case 'and':
    case 'or':
      return filter.filters.reduce((sum, part) => sum + bytesOfFilter(part), NODE_BYTES);
    case 'not':
      return NODE_BYTES + bytesOfFilter(filter.filter);
    case 'exists':
    case 'compare':
      return NODE_BYTES + bytesOfPath(filter.path);
    case 'startsWith':
      return NODE_BYTES + bytesOfPath(filter.path) + 2 * filter.text.length;
    case 'equals':
    case 'contains':
      return filter.values.reduce<number>(
        (sum, value) => sum + VALUE_BYTES + (typeof value === 'string' ? 2 * value.length : 0),
        NODE_BYTES + bytesOfPath(filter.path),
      );
  }
}

function bytesOfPath(path: string): number {
  return (
    2 * path.length + STEP_BYTES * Math.min(path.split('.', MAX_METADATA_DEPTH).length, MAX_METADATA_DEPTH)
  );
}

/** Returns the number of conditions that a document is compared with. */
export function conditionsOf(filter: Filter): number {
  if (filter.type === 'not') return conditionsOf(filter.filter);
  if (filter.type === 'contains') return Math.max(1, filter.values.length);
  if (filter.type !== 'and' && filter.type !== 'or') return 1;
  return filter.filters.reduce((sum, part) => sum + conditionsOf(part), 0);
}
