import type { Filter } from './parse.js';
import { MAX_METADATA_DEPTH } from './paths.js';

/** Bytes of a closure, of an object and of their places in lists. */
const NODE = 256;
/** Bytes of a value's place in a set and of the header of a string. */
const VALUE = 64;
/** Bytes of one step of a path, which is two strings that are views of the path. */
const STEP = 128;

/** Estimates the heap that a compiled filter takes, rather too high than too low. */
export function bytesOfFilter(filter: Filter): number {
  switch (filter.type) {
    case 'and':
    case 'or':
      return filter.filters.reduce((sum, part) => sum + bytesOfFilter(part), NODE);
    case 'not':
      return NODE + bytesOfFilter(filter.filter);
    case 'exists':
    case 'compare':
      return NODE + bytesOfPath(filter.path);
    case 'equals':
      return filter.values.reduce<number>(
        (sum, value) => sum + VALUE + (typeof value === 'string' ? 2 * value.length : 0),
        NODE + bytesOfPath(filter.path),
      );
  }
}

function bytesOfPath(path: string): number {
  return 2 * path.length + STEP * Math.min(path.split('.', MAX_METADATA_DEPTH).length, MAX_METADATA_DEPTH);
}

/** Returns the number of conditions that a document is compared with. */
export function conditionsOf(filter: Filter): number {
  if (filter.type === 'not') return conditionsOf(filter.filter);
  if (filter.type !== 'and' && filter.type !== 'or') return 1;
  return filter.filters.reduce((sum, part) => sum + conditionsOf(part), 0);
}
