/**
 * Whole numbers that are remembered for pieces of texts. A piece is looked up by its UTF-16 units where it stands: making a
 * string of each word of a text, only to look it up, takes several times as long.
 */
export interface SpanTable {
  /** For each slot the number of an entry, and 0 for an empty one. Their number is a power of two. */
  readonly slots: Int32Array;
  readonly hashes: Int32Array;
  /** Entry `n` is `units` from `starts[n - 1]` to `starts[n]`. */
  readonly starts: Int32Array;
  readonly units: Uint16Array;
  readonly values: Int32Array;
  size: number;
}

/** The UTF-16 units of `text` from `start` to `end`. */
export interface Span {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** The result for a piece that is not remembered. Values are not negative. */
export const UNKNOWN = -1;

/**
 * Slots that are looked at for one piece. A piece that would need more is not remembered, so that nobody can make lookups
 * slow by words that share a hash.
 */
const MAX_PROBES = 16;

/** @param most pieces, a power of two, and the most UTF-16 units of all of them together */
export function createSpanTable(most: { readonly pieces: number; readonly units: number }): SpanTable {
  return {
    slots: new Int32Array(2 * most.pieces),
    hashes: new Int32Array(most.pieces + 1),
    starts: new Int32Array(most.pieces + 1),
    units: new Uint16Array(most.units),
    values: new Int32Array(most.pieces + 1),
    size: 0,
  };
}

/** The value of the piece of `text` from `start` to `end`. */
export function findSpan(table: SpanTable, text: string, start: number, end: number): number {
  const { slots, hashes, values } = table;
  const hash = hashOf(text, start, end);
  const mask = slots.length - 1;
  for (let probe = 0; probe < MAX_PROBES; probe += 1) {
    const entry = slots[(hash + probe) & mask];
    if (entry === 0) return UNKNOWN;
    if (hashes[entry] === hash && isEntry(table, entry, { text, start, end })) return values[entry];
  }
  return UNKNOWN;
}

/** Tells whether a piece can be remembered without forgetting others. */
export function hasRoom({ starts, units, size }: SpanTable, { start, end }: Span): boolean {
  return size + 1 < starts.length && starts[size] + end - start <= units.length;
}

export function forgetSpans(table: SpanTable): void {
  table.slots.fill(0);
  table.size = 0;
}

/**
 * Remembers the value of a piece for which there is room, and which is not remembered.
 * @returns false for a piece that would make lookups slow
 */
export function addSpan(table: SpanTable, { text, start, end }: Span, value: number): boolean {
  const { slots, hashes, starts, units, values } = table;
  const hash = hashOf(text, start, end);
  const mask = slots.length - 1;
  let probe = 0;
  while (slots[(hash + probe) & mask] !== 0) {
    probe += 1;
    if (probe === MAX_PROBES) return false;
  }
  const from = starts[table.size];
  table.size += 1;
  slots[(hash + probe) & mask] = table.size;
  hashes[table.size] = hash;
  starts[table.size] = from + end - start;
  values[table.size] = value;
  for (let place = start; place < end; place += 1) units[from + place - start] = text.charCodeAt(place);
  return true;
}

/** FNV-1a over UTF-16 units, with its upper half mixed into the lower one, which alone chooses the slot. */
function hashOf(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let place = start; place < end; place += 1)
    hash = Math.imul(hash ^ text.charCodeAt(place), 0x01000193);
  return hash ^ (hash >>> 15);
}

function isEntry({ starts, units }: SpanTable, entry: number, { text, start, end }: Span): boolean {
  const from = starts[entry - 1];
  if (starts[entry] - from !== end - start) return false;
  for (let place = start; place < end; place += 1)
    if (units[from + place - start] !== text.charCodeAt(place)) return false;
  return true;
}
