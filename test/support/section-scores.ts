import type { TermWeights } from '../../src/shared/ports.js';
import { coveredShare } from '../../src/shared/search/bm25.js';
import { packTerms, unpackTerms } from '../../src/shared/text/packed-terms.js';

/** Chunks of a section. */
const SECTION = 8;
/** A search looks at this many candidates beyond the hits that it is asked for. */
const BEYOND = 16;

/** The chunks of a document that are in the section of one of them, itself among them. */
export function sectionAround<Chunk>(chunks: readonly Chunk[], number: number): Chunk[] {
  const first = Math.floor(number / SECTION) * SECTION;
  return chunks.slice(first, first + SECTION);
}

/** What the chunks of a document score by themselves and with their sections, from their packed terms, by the definition. */
export function scoresOfDocument(
  chunks: readonly Uint8Array[],
  weights: TermWeights,
): { readonly own: number; readonly score: number }[] {
  const share = (packed: Uint8Array, averageLength: number) =>
    coveredShare(packed, { ...weights, averageLength }, new Uint8Array(weights.terms.length));
  return chunks.map((packed, number) => {
    const around = sectionAround(chunks, number).filter(({ length }) => length > 0);
    const own = packed.length > 0 ? share(packed, weights.averageLength) : 0;
    if (own === 0) return { own, score: 0 };
    const longer = weights.averageLength * Math.sqrt(Math.sqrt(around.length));
    return { own, score: 0.5 * own + 0.5 * share(together(around), longer) };
  });
}

/** Those that score best by themselves, which are ranked by the other score; all that score 0 by themselves stay. */
export function rankedByOwn<Scored extends { readonly own: number }>(
  scored: readonly Scored[],
  limit: number,
  compare: (a: Scored, b: Scored) => number,
): Scored[] {
  const holding = scored.filter(({ own }) => own > 0).sort((a, b) => b.own - a.own || compare(a, b));
  return [...holding.slice(0, limit), ...scored.filter(({ own }) => own === 0)];
}

/** Chunks that score this near to the last that is ranked may or may not be. */
const NEAR = 1e-5;

/**
 * Says whether a chunk is certainly among those that a search by words for a page of `k` ranks by the folded score.
 *
 * @param stale chunks that an index may take for some of the best although they are out of date
 */
export function rankedFor<Scored extends { readonly own: number }>(
  all: readonly Scored[],
  k: number,
  stale = 0,
): (scored: Scored) => boolean {
  const owns = all.map(({ own }) => own).sort((a, b) => b - a);
  const firstLeftOut = owns[Math.max(0, k + BEYOND - stale)] ?? 0;
  return ({ own }) => own === 0 || firstLeftOut === 0 || own > firstLeftOut + NEAR;
}

interface Address {
  readonly documentId: string;
  readonly number: number;
}

export function compareAddresses(a: Address, b: Address): number {
  if (a.documentId !== b.documentId) return a.documentId < b.documentId ? -1 : 1;
  return a.number - b.number;
}

/** The terms of several texts as those of one. */
function together(chunks: readonly Uint8Array[]): Uint8Array {
  const counts = new Map<number, number>();
  let length = 0;
  for (const chunk of chunks.map(unpackTerms)) {
    length += chunk.length;
    for (const [term, count] of chunk.counts) counts.set(term, (counts.get(term) ?? 0) + count);
  }
  return packTerms({ length, counts });
}
