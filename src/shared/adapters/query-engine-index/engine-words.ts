import { coveredShare } from '../../search/bm25.js';
import { leastOwnShare } from '../../search/section-score.js';
import { weighQuery, type TermStatistics } from '../../search/query-terms.js';
import { analyzeText } from '../../text/analyze-text.js';
import type {
  CallOptions,
  Candidate,
  ChunkOfDocument,
  TermWeights,
  WordIndex,
  WordSearch,
} from '../../ports.js';
import type { Redis } from '../../redis/client.js';
import type { FoundChunk } from './chunk-reply.js';
import type { ChunkSearch } from './chunk-search.js';
import { planWordPasses, type WordPass } from './plan-word-passes.js';
import { readField } from './read-field.js';
import { foldScores, type OwnScore } from './section-scores.js';

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
      const ranked = await runPasses(parts, request, {
        passes: planWordPasses(request, statistics),
        weights,
      });
      const found = await fold(client, ranked, { request, weights });
      if (request.minScore > 0 || found.length >= request.limit) return found;
      // Those that hold words may be among them again.
      const limit = request.limit + found.length;
      const others = await inTurn(() => search.any({ ...request, limit }), request);
      const silent = merge([], score(others, weights)).filter(({ own }) => own === 0);
      const places = silent.slice(0, request.limit - found.length);
      return [...found, ...places.map((each) => candidate(each, 0))];
    },
    scores: async ({ callerId, query, chunks }) => {
      const weights = weighQuery(query, await readStatistics(callerId, termsOf(query)));
      const counts = new Uint8Array(weights.terms.length);
      const read = await readField(client, { chunks, field: 'terms' });
      const named = chunks.map(({ generation, number }, i) => {
        const terms = read[i] ?? null;
        const own = terms ? ownShare(terms, weights, counts) : Number.NaN;
        return { generation, number, own, terms: terms ?? NO_TERMS };
      });
      return foldScores(client, named, weights);
    },
  };
}

const NO_TERMS = new Uint8Array(0);
const termsOf = (query: string): readonly number[] => [...analyzeText(query).counts.keys()];

interface Scored extends OwnScore {
  readonly documentId: string;
}

/** Runs passes until the wanted candidates are certain. @returns those that score highest by themselves */
async function runPasses(
  { search, inTurn }: Parts,
  request: WordSearch,
  { passes, weights }: { readonly passes: readonly WordPass[]; readonly weights: TermWeights },
): Promise<Scored[]> {
  const { limit, minScore } = request;
  let best: Scored[] = [];
  for (const { terms, limit: taken, upperBound } of passes) {
    const found = await inTurn(() => search.byTerms({ ...request, terms, limit: taken }), request);
    best = merge(best, score(found, weights));
    const lowest = best[limit - 1]?.own ?? 0;
    if (lowest > 0 && lowest >= upperBound) break;
  }
  const least = leastOwnShare(minScore);
  return best.filter(({ own }) => own > 0 && own >= least).slice(0, limit);
}

/** Ranks candidates by the scores that count their sections, too. */
async function fold(
  client: Redis,
  ranked: readonly Scored[],
  { request: { minScore, limit }, weights }: { readonly request: WordSearch; readonly weights: TermWeights },
): Promise<Candidate[]> {
  const scores = await foldScores(client, ranked, weights);
  return ranked
    .map((each, i) => candidate(each, scores[i] ?? Number.NaN))
    .filter((each) => each.score >= minScore)
    .sort(compare)
    .slice(0, limit);
}

const candidate = ({ documentId, generation, number }: Scored, score: number): Candidate => ({
  documentId,
  generation,
  number,
  score,
});

function score(found: readonly FoundChunk[], weights: TermWeights): Scored[] {
  const counts = new Uint8Array(weights.terms.length);
  return found.map(({ documentId, generation, number, terms }) => ({
    documentId,
    generation,
    number,
    terms,
    own: ownShare(terms, weights, counts),
  }));
}

/** What a chunk scores by itself. */
function ownShare(terms: Uint8Array, weights: TermWeights, counts: Uint8Array): number {
  return terms.length > 0 ? coveredShare(terms, weights, counts) : 0;
}

/** Both lists without repetitions, best first, ties by document id and then chunk number. */
function merge(first: readonly Scored[], second: readonly Scored[]): Scored[] {
  const all = new Map([...first, ...second].map((each) => [addressOf(each), each]));
  return [...all.values()].sort((a, b) => b.own - a.own || compareAddresses(a, b));
}

const compare = (a: Candidate, b: Candidate): number => b.score - a.score || compareAddresses(a, b);

function compareAddresses(a: ChunkOfDocument, b: ChunkOfDocument): number {
  if (a.documentId !== b.documentId) return a.documentId < b.documentId ? -1 : 1;
  return a.number - b.number;
}

const addressOf = ({ generation, number }: Scored): string => `${generation}:${String(number)}`;
