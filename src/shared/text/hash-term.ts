/** The start of a hash, to which units are added. */
export const HASH_START = 0x811c9dc5;

/** Adds the UTF-16 units of `text` from `start` to `end` to a hash (FNV-1a). */
export function hashUnits(hash: number, text: string, start: number, end: number): number {
  let added = hash;
  for (let index = start; index < end; index += 1)
    added = Math.imul(added ^ text.charCodeAt(index), 0x01000193);
  return added;
}

/** The number of a term by which texts are found and measured. It is even, and every bit depends on every unit. */
export const namedBy = (hash: number): number => (mixBits(hash) & ~1) >>> 0;

/**
 * The number of a term that is kept aside: it is searched only where a query has nothing else, and counts neither in the length
 * of a text nor in its vector. It is odd.
 */
export const asideBy = (hash: number): number => (mixBits(hash) | 1) >>> 0;

export const hashTerm = (term: string): number => namedBy(hashUnits(HASH_START, term, 0, term.length));
export const asideTerm = (term: string): number => asideBy(hashUnits(HASH_START, term, 0, term.length));

export const isAside = (term: number): boolean => (term & 1) === 1;

/** Maps 32-bit integers one to one, with output bits that depend on all input bits (MurmurHash3, public domain). */
export function mixBits(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
