import type { TermWeights } from '../../src/index/index.js';
import { coveredShare } from '../../src/index/scoring/score.js';
import { packTerms, unpackTerms } from '../../src/index/scoring/packed-terms.js';

/** Chunks of a section. */
const SECTION = 8;
/** Candidates beyond the hits that are asked for. */
const SPARE = 16;

/** The chunks of a document that are in the section of one of them, itself among them. */
function sectionAround<Chunk>(chunks: readonly Chunk[], number: number): Chunk[] {
  const first = Math.floor(number / SECTION) * SECTION;
  return chunks.slice(first, first + SECTION);
}

/** The sections of a document, one after another. */
export function sectionsOf<Chunk>(chunks: readonly Chunk[]): Chunk[][] {
  return Array.from({ length: Math.ceil(chunks.length / SECTION) }, (_, i) =>
    sectionAround(chunks, i * SECTION),
  );
}

/** The scores of a document's chunks, their own and with their sections, from their packed terms, by the definition. */
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

/** The own score of the last candidate of a first page of chunks. */
export function lastCandidate(all: readonly { readonly own: number }[], k: number): number {
  return all.map(({ own }) => own).sort((a, b) => b - a)[k + SPARE - 1] ?? 0;
}

interface Asked {
  readonly k: number;
  readonly minScore: number;
  readonly per: 'chunk' | 'document';
}

interface Scored extends Address {
  readonly own: number;
  readonly score: number;
}

/**
 * The answer of an index that finds all chunks, by the definition: the `limit` with the best own scores, in the order of
 * the other score, and with a `minScore` of 0 the chunks that score 0. Where fewer than `enough` reach the least score, it
 * looks at four times as many.
 */
export function indexByScan<Text extends Scored>(
  all: readonly Text[],
  { limit, enough, minScore }: { readonly limit: number; readonly enough: number; readonly minScore: number },
): Text[] {
  const holding = all.filter(({ own }) => own > 0).sort((a, b) => b.own - a.own || compareAddresses(a, b));
  const bestOf = (looked: number) => holding.slice(0, looked).filter(({ score }) => score >= minScore);
  const first = bestOf(limit);
  const best = first.length < enough && holding.length >= limit ? bestOf(4 * limit) : first;
  const silent = minScore > 0 ? [] : all.filter(({ own }) => own === 0).sort(compareAddresses);
  return [...best.sort(compareScored).slice(0, limit), ...silent].slice(0, limit);
}

/**
 * The answer of a search by words.
 *
 * @param indexed all chunks that the index may find, also chunks that the caller may not have any more
 * @param isHit whether the caller may have it
 */
export function searchByScan<Text extends Scored>(
  indexed: readonly Text[],
  { k, minScore, per }: Asked,
  isHit: (text: Text) => boolean = () => true,
): Text[] {
  const needed = (per === 'document' ? 4 * k : k) + SPARE;
  for (let width = 1; ; width *= 2) {
    const limit = width * needed;
    const enough = per === 'document' ? limit : width * k;
    const found = indexByScan(indexed, { limit, enough, minScore });
    const { hits, dropped } = takeHits(found, { k, per, isHit });
    const isCutOff = found.length >= (minScore > 0 ? enough : limit);
    const isShort =
      hits.length < k ? dropped > 0 || per === 'document' : dropped > 0 && found.length - dropped < needed;
    if (!isShort || !isCutOff) return hits;
  }
}

/** Takes the first `k` that are hits, in batches, as what a search drops is counted by batches. */
function takeHits<Text extends Scored>(
  found: readonly Text[],
  { k, per, isHit }: Pick<Asked, 'k' | 'per'> & { readonly isHit: (text: Text) => boolean },
): { hits: Text[]; dropped: number } {
  const first = new Map(found.toReversed().map((each) => [each.documentId, each]));
  const rest = per === 'chunk' ? [...found] : found.filter((each) => first.get(each.documentId) === each);
  const hits: Text[] = [];
  let dropped = 0;
  while (hits.length < k && rest.length > 0) {
    const batch = rest.splice(0, Math.min(100, k - hits.length));
    hits.push(...batch.filter(isHit));
    dropped += batch.filter((each) => !isHit(each)).length;
  }
  return { hits, dropped };
}

interface Address {
  readonly documentId: string;
  readonly number: number;
}

const compareScored = (a: Scored, b: Scored): number => b.score - a.score || compareAddresses(a, b);

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
