import { coveredShare } from '../../search/bm25.js';
import { addressOf, candidateOf, compareAddresses, compareCandidates } from '../../search/candidates.js';
import { FURTHER_LOOK, leastOwnShare } from '../../search/section-score.js';
import { weighQuery, type TermStatistics } from '../../search/query-terms.js';
import { analyzeText } from '../../text/analyze-text.js';
import type { CallOptions, Candidate, TermWeights, WordIndex, WordSearch } from '../../ports.js';
import type { Redis } from '../../redis/client.js';
import type { FoundChunk } from './chunk-reply.js';
import type { ChunkSearch } from './chunk-search.js';
import { planWordPasses, type WordPass } from './plan-word-passes.js';
import { readField } from './read-field.js';
import { scoreWithSections, type OwnScore } from './section-scores.js';

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
      const { best, stale } = await findBest(parts, request, { statistics, weights });
      const room = request.limit - best.length;
      if (request.minScore > 0 || room <= 0) return [...best, ...stale];
      // Those that hold words may be among them again.
      const limit = request.limit + best.length;
      const others = await inTurn(() => search.any({ ...request, limit }), request);
      const silent = merge([], score(others, weights)).filter(({ own }) => own === 0);
      return [...best, ...stale, ...silent.slice(0, room).map((each) => candidateOf(each, 0))];
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
      return scoreWithSections(client, named, weights);
    },
  };
}

const NO_TERMS = new Uint8Array(0);
const termsOf = (query: string): readonly number[] => [...analyzeText(query).counts.keys()];

interface Scored extends OwnScore {
  readonly documentId: string;
}

/** Candidates with the scores that count their sections, too. */
interface Best {
  /** The best, in their order. */
  readonly best: readonly Candidate[];
  /** Those of hidden generations, which take the place of no others, but tell when a document has changed meanwhile. */
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
    runPasses(parts, request, {
      passes: planWordPasses({ ...request, limit: wanted }, statistics),
      weights,
      wanted,
    });
  const scoreAll = createScoring(parts.client, weights);
  const reach = async (some: readonly Scored[]) =>
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

/** What passes propose, those that score highest by themselves first. */
interface Proposals {
  readonly shown: readonly Scored[];
  /** Of hidden generations. */
  readonly hidden: readonly Scored[];
  /** The highest score by itself of a chunk that was left out. */
  readonly upperBound: number;
  /** Whether there may be more chunks that hold the terms. */
  readonly isCutOff: boolean;
}

function isCertain({ shown, upperBound, isCutOff }: Proposals, wanted: number): boolean {
  const lowest = shown[wanted - 1]?.own ?? 0;
  return lowest > 0 ? lowest >= upperBound : upperBound === 0 && !isCutOff;
}

/** Runs passes until the wanted candidates are certain. */
async function runPasses(
  { search, inTurn }: Parts,
  request: WordSearch,
  {
    passes,
    weights,
    wanted,
  }: { readonly passes: readonly WordPass[]; readonly weights: TermWeights; readonly wanted: number },
): Promise<Proposals> {
  const least = leastOwnShare(request.minScore);
  const hidden = new Set<string>();
  let all: Scored[] = [];
  let proposals: Proposals = { shown: [], hidden: [], upperBound: 0, isCutOff: false };
  for (const { terms, limit, upperBound } of passes) {
    const found = await inTurn(() => search.byTerms({ ...request, terms, limit }), request);
    for (const generation of found.hidden) hidden.add(generation);
    all = merge(all, score(found.candidates, weights));
    const holding = all.filter(({ own }) => own > 0 && own >= least);
    proposals = {
      shown: holding.filter(({ generation }) => !hidden.has(generation)),
      hidden: holding.filter(({ generation }) => hidden.has(generation)),
      upperBound,
      isCutOff: found.candidates.length >= limit,
    };
    const lowest = proposals.shown[wanted - 1]?.own ?? 0;
    if (lowest > 0 && lowest >= upperBound) break;
  }
  return proposals;
}

/** Returns a function that gives chunks the scores that count their sections, too, and makes each of them once. */
function createScoring(
  client: Redis,
  weights: TermWeights,
): (chunks: readonly Scored[]) => Promise<Candidate[]> {
  const known = new Map<string, number>();
  return async (chunks) => {
    const missing = chunks.filter((each) => !known.has(addressOf(each)));
    const scores = missing.length > 0 ? await scoreWithSections(client, missing, weights) : [];
    for (const [i, each] of missing.entries()) known.set(addressOf(each), scores[i] ?? Number.NaN);
    return chunks.map((each) => candidateOf(each, known.get(addressOf(each)) ?? Number.NaN));
  };
}

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
