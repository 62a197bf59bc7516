import { FURTHER_LOOK, type TermStatistics, type TermWeights } from '../../../../index/index.js';
import type { Candidate, WordIndex, WordSearch } from '../../../ports.js';
import type { Redis } from '../../../redis/client.js';
import { addressOf, candidateOf, compareAddresses, compareCandidates } from '../../../search/candidates.js';
import { weighQuery } from '../../../search/query-terms.js';
import { analyzeQuery } from '../../../text/list-terms.js';
import type { ChunkSearch } from '../chunk-search.js';
import { readField } from '../read-field.js';
import { planWordPasses } from './plan-word-passes.js';
import {
  isCertain,
  runWordPasses,
  scoreThemselves,
  type PassParts,
  type Proposals,
  type ProposedChunk,
} from './run-word-passes.js';
import { ownShare, scoreWithSections, type SectionOptions } from './section-scores.js';

/** Reads how often terms occur in the documents that a caller owns. */
export type ReadStatistics = (callerId: string, terms: readonly number[]) => Promise<TermStatistics>;

interface Parts extends PassParts {
  readonly client: Redis;
  readonly search: Pick<ChunkSearch, 'byTerms' | 'any'>;
  readonly readStatistics: ReadStatistics;
}

/**
 * Finds chunks by the full-text index of the engine, which proposes them by a score of its own. Some of the best may be
 * left out among very many chunks with the words of a query; the scores of the returned ones are exact.
 */
export function createEngineWords(parts: Parts): WordIndex {
  const { client, readStatistics, search, inTurn } = parts;
  return {
    search: async (request) => {
      const statistics = await readStatistics(request.callerId, termsOf(request.query));
      const weights = weighQuery(request.query, statistics);
      const { best, stale } = await findBest(parts, request, { statistics, weights });
      const room = request.limit - best.length;
      if (request.minScore > 0 || room <= 0) return [...best, ...stale];
      // Chunks that hold words may be among them again.
      const limit = request.limit + best.length;
      const others = await inTurn(() => search.any({ ...request, limit }), request);
      const silent = (await scoreThemselves(others, weights)).filter(({ own }) => own === 0);
      silent.sort(compareAddresses);
      return [...best, ...stale, ...silent.slice(0, room).map((each) => candidateOf(each, 0))];
    },
    scores: async ({ callerId, query, chunks, signal }) => {
      const weights = weighQuery(query, await readStatistics(callerId, termsOf(query)));
      const counts = new Uint8Array(weights.terms.length);
      const read = await readField(client, { chunks, field: 'terms', signal });
      const named = chunks.map(({ generation, number }, i) => {
        const terms = read[i] ?? null;
        const own = terms ? ownShare(terms, weights, counts) : Number.NaN;
        return { generation, number, own, terms: terms ?? NO_TERMS };
      });
      return scoreWithSections(client, named, { query: weights, signal });
    },
  };
}

const NO_TERMS = new Uint8Array(0);
const termsOf = (query: string): readonly number[] => [...analyzeQuery(query).counts.keys()];

/** Candidates with the scores that count their sections, too. */
interface Best {
  /** The best, in their order. */
  readonly best: readonly Candidate[];
  /** Candidates of hidden generations, which take no places, but tell when a document has changed meanwhile. */
  readonly stale: readonly Candidate[];
}

/** Ranks the candidates, and more of them where too few reach the least score. */
async function findBest(
  parts: Parts,
  request: WordSearch,
  { statistics, weights }: { readonly statistics: TermStatistics; readonly weights: TermWeights },
): Promise<Best> {
  const { limit, enough = limit, minScore } = request;
  const propose = (wanted: number) =>
    runWordPasses(parts, request, {
      passes: planWordPasses({ ...request, limit: wanted }, statistics),
      weights,
      wanted,
    });
  const scoreAll = createScoring(parts.client, { query: weights, signal: request.signal });
  const reach = async (some: readonly ProposedChunk[]) =>
    (await scoreAll(some)).filter(({ score }) => score >= minScore).sort(compareCandidates);
  const bestOf = async ({ shown, hidden }: Proposals, looked: number): Promise<Best> => {
    const worst = shown[looked - 1];
    const stale = hidden.filter(({ own }) => !worst || own >= worst.own);
    const best = await reach(shown.slice(0, looked));
    return { best: best.slice(0, limit), stale: await reach(stale) };
  };
  const proposals = await propose(limit);
  const found = await bestOf(proposals, limit);
  if (found.best.length >= enough || proposals.shown.length < limit) return found;
  const further = FURTHER_LOOK * limit;
  return bestOf(isCertain(proposals, further) ? proposals : await propose(further), further);
}

/** Returns a function that gives chunks the scores that count their sections, too, and makes each of them once. */
function createScoring(
  client: Redis,
  options: SectionOptions,
): (chunks: readonly ProposedChunk[]) => Promise<Candidate[]> {
  const known = new Map<string, number>();
  return async (chunks) => {
    const missing = chunks.filter((each) => !known.has(addressOf(each)));
    const scores = missing.length > 0 ? await scoreWithSections(client, missing, options) : [];
    for (const [i, each] of missing.entries()) known.set(addressOf(each), scores[i] ?? Number.NaN);
    return chunks.map((each) => candidateOf(each, known.get(addressOf(each)) ?? Number.NaN));
  };
}
