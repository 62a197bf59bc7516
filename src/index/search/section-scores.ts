import type { TermWeights } from '../scoring/terms.js';
import { coveredShare } from '../scoring/bm25.js';
import { createSectionShare, scoreWithSection } from '../scoring/section-score.js';
import type { ChunkTable } from '../tables/chunk-table.js';
import type { SlotPositions } from '../postings/shard/slot-positions.js';
import { createPostedSections } from './posted-sections.js';

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
