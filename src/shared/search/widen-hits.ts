import { SECTION_CHUNKS, sectionOf } from '../../index/index.js';
import { canFind } from '../access/access.js';
import { at } from '../at.js';
import type { Whereabouts } from '../chunks/fields.js';
import type { MatchableDocument } from '../document.js';
import type { ChunkOfDocument } from '../ports.js';
import { addressOf, chunkOfHit } from './candidates.js';
import type { ChunkExtent, FoundContent, ReadHits } from './read-hits.js';
import type { ChunkPart, Hit, SearchRequest } from './request.js';

/** The chunks around a hit that an answer shows with it: some before and after it, those of its section, or all. */
export const CONTEXT_MODES = ['window', 'section', 'document'] as const;

export interface ContextWish {
  readonly mode: (typeof CONTEXT_MODES)[number];
  /** The most chunks before a hit and after it; as many as the mode says where they are undefined. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  /** The most tokens of a hit with what is around it. A hit that is longer by itself stays whole. */
  readonly maxTokens: number;
}

/** Most chunks on each side of a hit. */
export const MAX_CONTEXT_CHUNKS = 100;
const WINDOW_CHUNKS = 1;
/** Chunks on each side that are read in one go, for so many hits at once. */
const CHUNKS_AT_ONCE = 8;
const HITS_AT_ONCE = 8;

interface Widened {
  readonly hits: readonly Hit[];
  /** True if a document serves another generation by now, so that a hit was left out. */
  readonly isOvertaken: boolean;
}

/** Adds the chunks around hits to these, and joins hits that come to share chunks. */
export type WidenHits = (
  hits: readonly Hit[],
  request: Pick<SearchRequest, 'principal' | 'filter' | 'guard' | 'signal' | 'onHits'> & {
    readonly context: ContextWish;
  },
) => Promise<Widened>;

/**
 * Reads chunks around hits like hits themselves: first the texts, of the generation of the hit, and then the record, which
 * says whether the caller may read that. Hits of documents that are closed or replaced by then are left out.
 */
export function createWidenHits(readHits: ReadHits): WidenHits {
  return async (hits, request) => {
    const reader = createReader(readHits, hits, request);
    const windows: Window[] = [];
    for (let first = 0; first < hits.length; first += HITS_AT_ONCE) {
      const some = hits.slice(first, first + HITS_AT_ONCE).map(windowOf);
      await growAll(some, reader, request.context);
      windows.push(...some);
    }
    const readable = windows.filter(({ hit }) => reader.isReadable(hit));
    return {
      hits: joined(readable).map((window) => assemble(window, reader)),
      isOvertaken: reader.isOvertaken(),
    };
  };
}

interface Neighbour extends Whereabouts {
  readonly number: number;
  readonly text: string;
  readonly extent: ChunkExtent;
}

type Reader = ReturnType<typeof createReader>;

/** Names a chunk of the document of a hit. */
interface Wanted extends ChunkOfDocument {
  readonly hit: Hit;
}

function createReader(
  readHits: ReadHits,
  hits: readonly Hit[],
  { principal, filter, guard, signal, onHits }: Parameters<WidenHits>[1],
) {
  const known = new Map<string, Neighbour | null>();
  const closed = new Set<string>();
  let isOvertaken = false;
  /** All that is held, for the measure of it. */
  const held = [...hits];
  const servedBy = (record: MatchableDocument) =>
    canFind(principal, record, filter) ? (record.published?.generation ?? null) : null;
  const options = { guard, callerId: principal.id, signal, withExtents: true };
  const note = ({ hit, generation, number }: Wanted, served: string | null, content: FoundContent | null) => {
    if (served !== generation) closed.add(generation);
    if (served !== null && served !== generation) isOvertaken = true;
    const { extent, ...found } = content ?? {};
    known.set(addressOf({ generation, number }), content && extent ? { ...content, number, extent } : null);
    // The metadata of the document count with the hit.
    const record = { ...hit.record, metadata: {} };
    if (content) held.push({ ...hit, record, ...found, content: content.text });
  };
  return {
    find: (hit: Hit, number: number) => known.get(addressOf({ generation: generationOf(hit), number })),
    isReadable: (hit: Hit) => !closed.has(generationOf(hit)),
    isOvertaken: () => isOvertaken,
    read: async (wanted: readonly Wanted[]) => {
      const missing = wanted.filter((each) => !known.has(addressOf(each)));
      const asked = [...new Map(missing.map((each) => [addressOf(each), each])).values()];
      if (asked.length === 0) return;
      const ids = [...new Set(asked.map(({ documentId }) => documentId))];
      const { contents, records } = await readHits(asked, ids, servedBy, options);
      const serving = new Map(ids.map((id, i) => [id, at(records, i)]));
      for (const [i, each] of asked.entries())
        note(each, serving.get(each.documentId) ?? null, at(contents, i));
      onHits?.(held);
    },
  };
}

const chunkNear = (hit: Hit, number: number): Wanted => ({ ...chunkOfHit(hit), number, hit });
const generationOf = (hit: Hit): string => chunkOfHit(hit).generation;

/** The chunks from `first` to `last` around hits, the best of which gives them their place. */
interface Window {
  readonly hit: Hit;
  readonly matches: readonly Hit[];
  first: number;
  last: number;
  tokens: number;
  /** False where nothing more fits. */
  growsBack: boolean;
  growsOn: boolean;
}

const windowOf = (hit: Hit): Window => ({
  hit,
  matches: [hit],
  first: hit.number,
  last: hit.number,
  tokens: 0,
  growsBack: true,
  growsOn: true,
});

/** Reads around hits until no window grows any more. */
async function growAll(windows: readonly Window[], reader: Reader, context: ContextWish): Promise<void> {
  await reader.read(windows.map(({ hit }) => chunkNear(hit, hit.number)));
  for (const window of windows) {
    const own = reader.find(window.hit, window.hit.number);
    window.tokens = own?.extent.tokens ?? 0;
    if (!own) [window.growsBack, window.growsOn] = [false, false];
  }
  for (;;) {
    const growing = windows.filter(({ growsBack, growsOn }) => growsBack || growsOn);
    if (growing.length === 0) return;
    await reader.read(growing.flatMap((window) => nextOf(window, context)));
    for (const window of growing) grow(window, reader, context);
  }
}

/** The lowest and the highest number that a window may reach. */
function boundsOf({ hit }: Window, { mode, before, after }: ContextWish) {
  const standard = mode === 'window' ? WINDOW_CHUNKS : MAX_CONTEXT_CHUNKS;
  const count = hit.record.published?.chunkCount ?? 0;
  const lowest = Math.max(0, hit.number - (before ?? standard));
  const highest = Math.min(count - 1, hit.number + (after ?? standard));
  // Without headings, the section is that by which a chunk scores.
  if (mode !== 'section' || hit.section.length > 0) return { lowest, highest };
  const section = sectionOf(hit.number);
  return {
    lowest: Math.max(lowest, section),
    highest: Math.min(highest, section + SECTION_CHUNKS - 1),
  };
}

function nextOf(window: Window, context: ContextWish): Wanted[] {
  const { hit, first, last, growsBack, growsOn } = window;
  const { lowest, highest } = boundsOf(window, context);
  const low = growsBack ? Math.max(lowest, first - CHUNKS_AT_ONCE) : first;
  const high = growsOn ? Math.min(highest, last + CHUNKS_AT_ONCE) : last;
  return Array.from({ length: Math.max(0, high - low + 1) }, (_, i) => chunkNear(hit, low + i));
}

/** Takes the nearest chunks that were read, one from each side in turn, as long as they fit. */
function grow(window: Window, reader: Reader, context: ContextWish): void {
  const { lowest, highest } = boundsOf(window, context);
  const isOfSection = ({ section }: Whereabouts) =>
    context.mode !== 'section' || isSameSection(section, window.hit.section);
  const take = (number: number): 'taken' | 'unread' | 'end' => {
    if (number < lowest || number > highest) return 'end';
    const next = reader.find(window.hit, number);
    if (next === undefined) return 'unread';
    if (next === null || !isOfSection(next)) return 'end';
    if (window.tokens + next.extent.tokens > context.maxTokens) return 'end';
    window.tokens += next.extent.tokens;
    return 'taken';
  };
  for (let [back, on] = [window.growsBack, window.growsOn]; back || on;) {
    if (back) {
      const taken = take(window.first - 1);
      if (taken === 'taken') window.first -= 1;
      else back = false;
      if (taken === 'end') window.growsBack = false;
    }
    if (on) {
      const taken = take(window.last + 1);
      if (taken === 'taken') window.last += 1;
      else on = false;
      if (taken === 'end') window.growsOn = false;
    }
  }
}

const isSameSection = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((heading, i) => heading === other[i]);

/** Joins windows of a document that share chunks. They come best first, and the joined one takes the place of the best. */
function joined(windows: readonly Window[]): Window[] {
  const kept: Window[] = [];
  for (const window of windows) {
    const generation = generationOf(window.hit);
    let whole = window;
    let place = kept.length;
    for (const [i, each] of [...kept.entries()].reverse()) {
      if (generationOf(each.hit) !== generation) continue;
      if (each.first > whole.last || each.last < whole.first) continue;
      whole = both(each, whole);
      kept.splice(i, 1);
      place = i;
    }
    kept.splice(place, 0, whole);
  }
  return kept;
}

const both = (better: Window, other: Window): Window => ({
  hit: better.hit,
  matches: [...better.matches, ...other.matches],
  first: Math.min(better.first, other.first),
  last: Math.max(better.last, other.last),
  tokens: better.tokens + other.tokens,
  growsBack: false,
  growsOn: false,
});

/** Makes the text of a window, in which no overlap of chunks is repeated. */
function assemble({ hit, matches, first, last }: Window, reader: Reader): Hit {
  let content = '';
  const parts: ChunkPart[] = [];
  for (let number = first; number <= last; number += 1) {
    const chunk = reader.find(hit, number) ?? ownText(hit);
    const { text, extent, location, section, spots } = chunk;
    const overlap = number === first ? 0 : Math.min(extent.overlap, text.length);
    const repeated = repeatedLength(content, text.slice(0, overlap));
    const start = content.length;
    content += text.slice(overlap);
    const from = start - repeated;
    parts.push({ number, text, start, end: content.length, from, location, section, spots });
  }
  const found = matches.map(({ number, score }) => {
    const { from, end } = at(parts, number - first);
    return { chunkNumber: number, start: from, end, score };
  });
  return {
    ...hit,
    content,
    widened: { parts, matches: found.toSorted((a, b) => a.chunkNumber - b.chunkNumber) },
  };
}

/** A chunk that is gone although its document serves it stays as it was found. */
const ownText = (hit: Hit): Neighbour => ({
  number: hit.number,
  text: hit.content,
  extent: { tokens: 0, overlap: 0 },
  location: hit.location,
  section: hit.section,
  spots: hit.spots,
});

/** Returns how much of the end of an overlap a text ends with: a repeated header of a table stands elsewhere. */
function repeatedLength(content: string, overlap: string): number {
  let length = 0;
  const isRepeated = (i: number) => overlap.charAt(overlap.length - i) === content.charAt(content.length - i);
  while (length < overlap.length && length < content.length && isRepeated(length + 1)) length += 1;
  return length;
}
