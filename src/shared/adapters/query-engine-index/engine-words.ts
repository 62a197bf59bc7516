import { coveredShare } from '../../search/bm25.js';
import { weighQuery, type TermStatistics } from '../../search/query-terms.js';
import { analyzeText } from '../../text/analyze-text.js';
import type { CallOptions, Candidate, TermWeights, WordIndex, WordSearch } from '../../ports.js';
import type { Redis } from '../../redis/client.js';
import type { FoundChunk } from './chunk-reply.js';
import type { ChunkSearch } from './chunk-search.js';
import { planWordPasses, type WordPass } from './plan-word-passes.js';
import { measureField } from './read-field.js';

/** Reads how often terms occur in the documents that a caller owns. */
export type ReadStatistics = (callerId: string, terms: readonly number[]) => Promise<TermStatistics>;

interface Parts {
  readonly client: Redis;
  readonly search: Pick<ChunkSearch, 'byTerms' | 'any'>;
  readonly readStatistics: ReadStatistics;
  /** Asks the engine in the caller's turn. */
  readonly inTurn: <Answer>(
    query: () => Promise<Answer>,
    options: CallOptions & { readonly callerId: string },
  ) => Promise<Answer>;
}

/**
 * Finds chunks by the full-text index of the engine, which proposes them by a score of its own. Among very many chunks with
 * the words of a query some of the best may be left out; the scores of those that are returned are exact.
 */
export function createEngineWords(parts: Parts): WordIndex {
  const { client, readStatistics, search, inTurn } = parts;
  return {
    search: async (request) => {
      const statistics = await readStatistics(request.callerId, termsOf(request.query));
      const weights = weighQuery(request.query, statistics);
      const found = await runPasses(parts, request, { passes: planWordPasses(request, statistics), weights });
      if (request.minScore > 0 || found.length >= request.limit) return found;
      // Those that hold words may be among them again.
      const limit = request.limit + found.length;
      const others = await inTurn(() => search.any({ ...request, limit }), request);
      const silent = merge([], score(others, weights)).filter((each) => each.score === 0);
      return [...found, ...silent.slice(0, request.limit - found.length)];
    },
    scores: async ({ callerId, query, chunks }) => {
      const weights = weighQuery(query, await readStatistics(callerId, termsOf(query)));
      const counts = new Uint8Array(weights.terms.length);
      return measureField(client, { chunks, field: 'terms' }, (packed) =>
        coveredShare(packed, weights, counts),
      );
    },
  };
}

const termsOf = (query: string): readonly number[] => [...analyzeText(query).counts.keys()];

/** Runs passes until the wanted candidates are certain. */
async function runPasses(
  { search, inTurn }: Parts,
  request: WordSearch,
  { passes, weights }: { readonly passes: readonly WordPass[]; readonly weights: TermWeights },
): Promise<Candidate[]> {
  const { limit, certain = limit, minScore } = request;
  let best: Candidate[] = [];
  for (const { terms, limit: taken, upperBound } of passes) {
    const found = await inTurn(() => search.byTerms({ ...request, terms, limit: taken }), request);
    best = merge(best, score(found, weights));
    const lowest = best[certain - 1]?.score ?? 0;
    if (lowest > 0 && lowest >= upperBound) break;
  }
  return best.filter((each) => each.score > 0 && each.score >= minScore).slice(0, limit);
}

function score(found: readonly FoundChunk[], weights: TermWeights): Candidate[] {
  const counts = new Uint8Array(weights.terms.length);
  return found.map(({ documentId, generation, number, terms }) => {
    const share = terms.length > 0 ? coveredShare(terms, weights, counts) : 0;
    return { documentId, generation, number, score: share };
  });
}

/** Both lists without repetitions, best first, ties by document id and then chunk number. */
function merge(first: readonly Candidate[], second: readonly Candidate[]): Candidate[] {
  const all = new Map([...first, ...second].map((each) => [addressOf(each), each]));
  return [...all.values()].sort(compare);
}

function compare(a: Candidate, b: Candidate): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.documentId !== b.documentId) return a.documentId < b.documentId ? -1 : 1;
  return a.number - b.number;
}

const addressOf = ({ generation, number }: Candidate): string => `${generation}:${String(number)}`;
