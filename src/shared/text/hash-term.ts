/** Hashes with FNV-1a over UTF-16 units, and then the finaliser of MurmurHash3, so that every bit depends on every unit. */
export function hashTerm(term: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < term.length; index += 1)
    hash = Math.imul(hash ^ term.charCodeAt(index), 0x01000193);
  return mixBits(hash);
}

/** Maps 32-bit integers one to one, with output bits that depend on all input bits (MurmurHash3, public domain). */
export function mixBits(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
