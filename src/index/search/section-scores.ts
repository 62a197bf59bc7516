import { placeOf, WINDOW, type Segment } from '../postings/segment.js';
import type { SlotPositions } from '../postings/shard/slot-positions.js';
import { coveredShare, createSectionShare, scoreWithSection, sectionShare } from '../scoring/score.js';
import type { TermWeights } from '../scoring/terms.js';
import type { ChunkTable } from '../tables/chunk-table.js';

interface Tables {
  readonly chunks: Pick<ChunkTable, 'links' | 'terms'>;
  readonly positions: Pick<SlotPositions, 'segmentOf' | 'positionOf'>;
}

export interface SectionScores {
  /** Returns the score of a chunk by itself. */
  readonly own: (slot: number) => number;
  /**
   * Returns the same, for a chunk whose score with its section is likely to be asked for next: the share of the section is
   * kept.
   */
  readonly ownOfLikely: (slot: number) => number;
  /** Returns the score of a chunk, which counts its section. @param own its score by itself */
  readonly withSection: (slot: number, own: number) => number;
}

/** Scores chunks by the words of a query. Each section is read once. */
export function createSectionScores(
  { chunks: { links, terms }, positions }: Tables,
  query: TermWeights,
): SectionScores {
  const counts = new Uint8Array(query.terms.length);
  const posted = createPostedSections(positions, query);
  const shareOf = createSectionShare(query);
  /** By the slot of the first chunk. */
  const known = new Map<number, number>();
  const isAlone = (slot: number, first: number): boolean => {
    const next = links.after(slot);
    return slot === first && (next < 0 || links.sectionOf(next) !== first);
  };
  const own = (slot: number): number => {
    const packed = terms.read(slot);
    return packed ? coveredShare(packed, query, counts) : 0;
  };
  const ownOfLikely = (slot: number): number => {
    const first = links.sectionOf(slot);
    if (known.has(first) || isAlone(slot, first)) return own(slot);
    const shares = posted(slotsOf(links, first), slot);
    if (!shares) return own(slot);
    known.set(first, shares.section);
    return shares.own;
  };
  const sectionOf = (slot: number, first: number): number => {
    const slots = slotsOf(links, first);
    return posted(slots, slot)?.section ?? shareOf(slots.flatMap((each) => terms.read(each) ?? []));
  };
  const withSection = (slot: number, share: number): number => {
    const first = links.sectionOf(slot);
    // A chunk without any of the words scores 0 whatever is around it, and one alone has its own score.
    if (share === 0 || isAlone(slot, first)) return share;
    const section = known.get(first) ?? sectionOf(slot, first);
    known.set(first, section);
    return scoreWithSection(share, section);
  };
  return { own, ownOfLikely, withSection };
}

/** Returns the slots of the chunks of a section, in their order. */
function slotsOf(links: ChunkTable['links'], first: number): number[] {
  const slots: number[] = [];
  for (let slot = first; slot >= 0 && links.sectionOf(slot) === first; slot = links.after(slot))
    slots.push(slot);
  return slots;
}

interface Shares {
  readonly section: number;
  /** The share of the chunk that was asked for. */
  readonly own: number;
}

/**
 * Returns a function that computes the share of a section, and the share of one of its chunks, from postings: the postings
 * of the chunks of a section stand together, so that a term is looked up once for all. It takes as long as reading the
 * terms of one chunk.
 *
 * It returns null where the chunks are not all next to each other in a segment, or where one of them may have no terms.
 */
export function createPostedSections(
  positions: Pick<SlotPositions, 'segmentOf' | 'positionOf'>,
  query: TermWeights,
): (slots: readonly number[], slot: number) => Shares | null {
  const sums = new Uint32Array(query.terms.length);
  const counts = new Uint32Array(query.terms.length);
  /** By segment: the place of each term of the query. */
  const known = new Map<Segment, Int32Array>();
  const placesIn = (segment: Segment): Int32Array => {
    const found = known.get(segment) ?? Int32Array.from(query.terms, (term) => placeOf(segment, term));
    known.set(segment, found);
    return found;
  };
  return (slots, slot) => {
    const segment = positions.segmentOf(slot);
    if (!segment) return null;
    const first = positions.positionOf(slots[0] ?? slot);
    const length = lengthOf(positions, segment, slots);
    if (length === 0) return null;
    const ordinal = positions.positionOf(slot);
    const terms = placesIn(segment);
    const last = first + slots.length - 1;
    for (let i = 0; i < terms.length; i += 1) {
      sums[i] = 0;
      counts[i] = 0;
      const { from, end } = postingsNear(segment, terms[i], { first, last });
      for (let at = from; at < end; at += 1) {
        const each = segment.ordinals[at];
        if (each > last) break;
        const count = segment.counts[at];
        sums[i] += count;
        if (each === ordinal) counts[i] = count;
      }
    }
    return {
      section: sectionShare({ counts: sums, length, chunks: slots.length }, query),
      own: sectionShare({ counts, length: segment.lengths[ordinal], chunks: 1 }, query),
    };
  };
}

/** Returns the length of chunks together; 0 where they are not all next to each other, or where one of them has no length. */
function lengthOf(
  positions: Pick<SlotPositions, 'segmentOf' | 'positionOf'>,
  segment: Segment,
  slots: readonly number[],
): number {
  const first = positions.positionOf(slots[0]);
  let length = 0;
  for (let i = 0; i < slots.length; i += 1) {
    const slot = slots[i];
    const own = segment.lengths[first + i];
    if (own === 0 || positions.segmentOf(slot) !== segment || positions.positionOf(slot) !== first + i)
      return 0;
    length += own;
  }
  return length;
}

/** Postings of the term at a place: the first of these chunks of a segment or of a later one, and where they end at the latest. */
function postingsNear(
  { starts, ordinals, tables, windowEnds }: Segment,
  place: number,
  { first, last }: { readonly first: number; readonly last: number },
): { readonly from: number; readonly end: number } {
  if (place < 0) return { from: 0, end: 0 };
  let from = starts[place];
  let end = starts[place + 1];
  const table = tables[place];
  if (table >= 0) {
    const window = Math.floor(first / WINDOW);
    if (window > 0) from = windowEnds[table + window - 1];
    end = windowEnds[table + Math.floor(last / WINDOW)];
  }
  for (let to = end; from < to;) {
    const middle = (from + to) >>> 1;
    if (ordinals[middle] < first) from = middle + 1;
    else to = middle;
  }
  return { from, end };
}
