import type { TermStatistics, TermWeights } from '../../src/index/index.js';
import type { Candidate, Index } from '../../src/shared/ports.js';
import { coveredShare } from '../../src/index/scoring/score.js';
import { weighQuery } from '../../src/shared/search/ranking.js';

/** A chunk that an index holds, and whether it passes the access lists and the filter that the index knows of. */
export interface IndexedChunk {
  readonly documentId: string;
  readonly generation: string;
  readonly number: number;
  readonly vector: Float32Array;
  readonly terms: Uint8Array;
  /** Given out whatever the limit, because the index knows that some of what it names is stale. */
  readonly isBeyondLimit: boolean;
}

type Searched = Pick<Index, 'vectors' | 'words'>;

/**
 * An index that reads a list from its beginning to its end, and keeps its contract by that: the nearest by vector, those
 * that score highest by words, as many as it was asked for.
 */
export function createListedIndex(
  chunks: () => readonly IndexedChunk[],
  {
    statistics,
    onAsk = () => undefined,
  }: { statistics: TermStatistics; onAsk?: (by: keyof Searched) => void },
): Searched {
  const best = (scores: readonly Scored[], limit: number) =>
    scores
      .toSorted(compare)
      .filter(({ chunk }, place) => place < limit || chunk.isBeyondLimit)
      .map(({ chunk, score }) => toCandidate(chunk, score));
  const nearness = (vector: Float32Array) => (chunk: IndexedChunk) => innerProduct(vector, chunk.vector);
  const wordScore = (query: string) => {
    const weights = weighQuery(query, statistics);
    return (chunk: IndexedChunk) => shareOf(chunk, weights);
  };
  const scoresOf = (wanted: readonly Omit<Candidate, 'score'>[], score: (of: IndexedChunk) => number) =>
    Float64Array.from(wanted, ({ generation, number }) => {
      const chunk = chunks().find((each) => each.generation === generation && each.number === number);
      return chunk ? score(chunk) : NaN;
    });
  return {
    vectors: {
      search: ({ vector, limit }) => {
        onAsk('vectors');
        const score = nearness(vector);
        return Promise.resolve(
          best(
            chunks().map((chunk) => ({ chunk, score: score(chunk) })),
            limit,
          ),
        );
      },
      similarities: ({ vector, chunks: wanted }) => Promise.resolve(scoresOf(wanted, nearness(vector))),
    },
    words: {
      search: ({ query, minScore, limit }) => {
        onAsk('words');
        const score = wordScore(query);
        const scored = chunks().map((chunk) => ({ chunk, score: score(chunk) }));
        return Promise.resolve(
          best(
            scored.filter((each) => each.score >= minScore),
            limit,
          ),
        );
      },
      scores: ({ query, chunks: wanted }) => Promise.resolve(scoresOf(wanted, wordScore(query))),
    },
  };
}

interface Scored {
  readonly chunk: IndexedChunk;
  readonly score: number;
}

function compare(a: Scored, b: Scored): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.chunk.documentId !== b.chunk.documentId) return a.chunk.documentId < b.chunk.documentId ? -1 : 1;
  return a.chunk.number - b.chunk.number;
}

function toCandidate({ documentId, generation, number }: IndexedChunk, score: number): Candidate {
  return { documentId, generation, number, score };
}

function shareOf({ terms }: IndexedChunk, query: TermWeights): number {
  return coveredShare(terms, query, new Uint8Array(query.terms.length));
}

export function innerProduct(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? NaN), 0);
}
