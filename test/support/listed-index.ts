import type { Candidate, Index, IndexSearch, TermWeights, TermSearch } from '../../src/shared/ports.js';
import { coveredShare } from '../../src/shared/search/bm25.js';

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

type Searched = Pick<Index, 'search' | 'searchTerms' | 'hasCheapPostings'>;

/**
 * An index that reads a list from its beginning to its end, and keeps its contract by that: the nearest by vector, those
 * that score highest by terms, as many as it was asked for.
 */
export function createListedIndex(
  chunks: () => readonly IndexedChunk[],
  {
    hasCheapPostings,
    onAsk = () => undefined,
  }: { hasCheapPostings: boolean; onAsk?: (by: keyof Searched) => void },
): Searched {
  const top = (scores: readonly Scored[], limit: number) => {
    const ordered = scores.toSorted((a, b) => b.score - a.score);
    return ordered.filter(({ chunk }, place) => place < limit || chunk.isBeyondLimit);
  };
  return {
    hasCheapPostings,
    search: ({ vector, limit }: Pick<IndexSearch, 'vector' | 'limit'>) => {
      onAsk('search');
      const scored = chunks().map((chunk) => ({ chunk, score: innerProduct(vector, chunk.vector) }));
      return Promise.resolve(top(scored, limit).map(({ chunk, score }) => toCandidate(chunk, score)));
    },
    searchTerms: ({ query, vector, limit }: Pick<TermSearch, 'query' | 'vector' | 'limit'>) => {
      onAsk('searchTerms');
      const holding = chunks()
        .map((chunk) => ({ chunk, score: shareOf(chunk, query) }))
        .filter(({ score }) => score > 0);
      const similarity = (chunk: IndexedChunk) => (vector ? innerProduct(vector, chunk.vector) : NaN);
      return Promise.resolve(top(holding, limit).map(({ chunk }) => toCandidate(chunk, similarity(chunk))));
    },
  };
}

interface Scored {
  readonly chunk: IndexedChunk;
  readonly score: number;
}

function toCandidate({ documentId, generation, number, terms }: IndexedChunk, similarity: number): Candidate {
  return { documentId, generation, number, terms, similarity };
}

function shareOf({ terms }: IndexedChunk, query: TermWeights): number {
  return coveredShare(terms, query, new Uint8Array(query.terms.length));
}

export function innerProduct(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? NaN), 0);
}
