import {
  scoreWithSection,
  SECTION_CHUNKS,
  sectionOf,
  sharesByTerm,
  type TermStatistics,
  type TermWeights,
} from '../../index/index.js';
import { at } from '../at.js';
import type { Chunks } from '../chunks/chunks.js';
import type { CallOptions, Index } from '../ports.js';
import { analyzeQuery } from '../text/list-terms.js';
import { nameTerms } from './term-spans.js';
import { nextSlice } from '../tools/time-slices.js';
import type { Principal } from '../access/access.js';
import { addressOf, chunkOfHit } from './candidates.js';
import { shareOfVectors, weighQuery } from './ranking.js';
import type { Hit, Scoring, SearchNotes } from './request.js';

/** Most hits of a search that are explained: the best ones. */
const MAX_EXPLAINED = 100;

/** The parts of a score. Those of all terms and of the vectors add up to it. */
export interface Explanation {
  readonly ranking: Scoring['ranking'];
  /** The score of the ranking, which a reranker may have replaced. */
  readonly score: number;
  /** Null where words do not count. */
  readonly words: WordsExplanation | null;
  /** Null where vectors do not count. */
  readonly vector: VectorExplanation | null;
  /** The score of the reranker; null where it gave none. */
  readonly reranked: number | null;
}

interface WordsExplanation {
  /** The part of the words in the score: their own score, as far as the ranking counts it. */
  readonly share: number;
  /** The part of them in every score. */
  readonly weight: number;
  /** The parts of the query's weight that the chunk and its section cover. */
  readonly own: number;
  readonly section: number;
  /** Heaviest first. */
  readonly terms: readonly ExplainedTerm[];
}

interface ExplainedTerm {
  /** The word as the query writes it. */
  readonly term: string;
  /** Its part of the query's weight. */
  readonly weight: number;
  /** The parts of it that the chunk and its section cover. */
  readonly own: number;
  readonly section: number;
  /** The part of it in the score. */
  readonly share: number;
}

interface VectorExplanation {
  readonly share: number;
  readonly weight: number;
  readonly similarity: number;
  /** The similarity from which on it counts. */
  readonly floor: number;
}

interface ExplainRequest extends CallOptions {
  readonly principal: Principal;
  readonly query: string;
  readonly notes: SearchNotes;
}

/** Explains the scores of hits, in their order; null beyond the most that are explained, and for chunks that are gone. */
export type ExplainHits = (
  hits: readonly Hit[],
  request: ExplainRequest,
) => Promise<readonly (Explanation | null)[]>;

interface Parts {
  readonly vectors: Pick<Index['vectors'], 'similarities'>;
  readonly chunks: Pick<Chunks, 'readTerms'>;
  readonly readStatistics: (callerId: string, terms: readonly number[]) => Promise<TermStatistics>;
}

/**
 * Computes the parts of scores anew, by the functions that have made the scores: those of words from the terms in Redis,
 * which every engine scores by, with the weights that the caller's own documents give. So nothing in an explanation depends
 * on documents that the caller may not read.
 */
export function createExplainHits(parts: Parts): ExplainHits {
  return async (hits, request) => {
    const { scoring } = request.notes;
    if (!scoring) return hits.map(() => null);
    const some = hits.slice(0, MAX_EXPLAINED);
    const vectors = await explainVectors(parts, some, request, scoring);
    const words = scoring.weight < 1 ? await explainWords(parts, some, request, scoring) : null;
    return hits.map((hit, i) => {
      const [vector, own] = [vectors?.[i] ?? null, words?.[i] ?? null];
      const isWhole = (!vectors || vector) && (!words || own);
      if (i >= some.length || !isWhole) return null;
      const first = request.notes.firstScores.get(addressOf(chunkOfHit(hit)));
      return {
        ranking: scoring.ranking,
        score: first ?? hit.score,
        words: own,
        vector,
        reranked: first === undefined ? null : hit.score,
      };
    });
  };
}

async function explainVectors(
  { vectors }: Parts,
  hits: readonly Hit[],
  { principal, notes, signal }: ExplainRequest,
  scoring: Scoring,
): Promise<readonly (VectorExplanation | null)[] | null> {
  const { weight, floor } = scoring;
  if (weight === 0 || notes.vector === null) return null;
  const chunks = hits.map(chunkOfHit);
  const similarities = await vectors.similarities({ principal, vector: notes.vector, chunks, signal });
  return Array.from(similarities, (similarity) =>
    Number.isNaN(similarity)
      ? null
      : { share: shareOfVectors(scoring, similarity), weight, similarity, floor },
  );
}

async function explainWords(
  { chunks, readStatistics }: Parts,
  hits: readonly Hit[],
  { principal, query, signal }: ExplainRequest,
  scoring: Scoring,
): Promise<readonly (WordsExplanation | null)[]> {
  const asked = [...analyzeQuery(query).counts.keys()];
  const weights = weighQuery(query, await readStatistics(principal.id, asked));
  const names = await nameTerms(query);
  const explained: (WordsExplanation | null)[] = [];
  for (const hit of hits) {
    signal?.throwIfAborted();
    await nextSlice();
    const section = await readSection(chunks, hit);
    const own = section?.[hit.number - sectionOf(hit.number)];
    explained.push(section && own ? explainTerms({ own, section, weights, names, scoring }) : null);
  }
  return explained;
}

/** The packed terms of the chunks of a hit's section; null where one of them is gone. */
async function readSection(
  chunks: Pick<Chunks, 'readTerms'>,
  { record, number }: Hit,
): Promise<readonly Uint8Array[] | null> {
  const { published } = record;
  if (!published?.generation) return null;
  const first = sectionOf(number);
  const size = Math.min(SECTION_CHUNKS, published.chunkCount - first);
  const numbers = Array.from({ length: size }, (_, i) => first + i);
  const read = await chunks.readTerms(published.generation, numbers);
  return read.length === size ? read.map(({ terms }) => terms) : null;
}

interface Scored {
  readonly own: Uint8Array;
  readonly section: readonly Uint8Array[];
  readonly weights: TermWeights;
  readonly names: ReadonlyMap<number, string>;
  readonly scoring: Scoring;
}

function explainTerms({ own, section, weights, names, scoring }: Scored): WordsExplanation {
  const ownShares = sharesByTerm(own.length > 0 ? [own] : [], weights);
  const held = section.filter(({ length }) => length > 0);
  const sectionShares = section.length > 1 ? sharesByTerm(held, weights) : ownShares;
  const weight = 1 - scoring.weight;
  const ownShare = totalOf(ownShares);
  const terms = Array.from(weights.terms, (term, i) => {
    const [mine, around] = [at(ownShares, i), at(sectionShares, i)];
    // A chunk that holds none of the words scores 0, whatever is around it.
    const share = ownShare > 0 ? weight * ((mine + around) / 2) : 0;
    return { term: names.get(term) ?? '', weight: at(weights.weights, i), own: mine, section: around, share };
  });
  const sectionShare = totalOf(sectionShares);
  return {
    share: weight * scoreWithSection(ownShare, sectionShare),
    weight,
    own: ownShare,
    section: sectionShare,
    terms: terms.toSorted((a, b) => b.weight - a.weight),
  };
}

const totalOf = (shares: Float64Array): number => shares.reduce((sum, share) => sum + share, 0);
