import { FURTHER_LOOK, leastOwnShare, type TermStatistics, type TermWeights } from '../../../index/index.js';
import type { Principal } from '../../access/access.js';
import { sumOf } from '../../at.js';
import { slicesOf } from '../../batches.js';
import type { Candidate, WordIndex, WordSearch, CallOptions } from '../../ports.js';
import type { Redis } from '../../redis/client.js';
import { addressOf, candidateOf, compareAddresses, compareCandidates } from '../../search/candidates.js';
import { weighQuery, termWeights, heaviestTerms, weightOf, type WeightedTerm } from '../../search/ranking.js';
import { analyzeQuery } from '../../text/list-terms.js';
import { nextSlice } from '../../tools/time-slices.js';
import type { FoundChunk } from './chunk-query.js';
import type { ChunkSearch } from './chunk-search.js';
import { readField } from './read-field.js';
import { ownShare, scoreWithSections, type SectionOptions, type OwnScore } from './section-scores.js';

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
      const statistics = await readStatistics(request.principal.id, termsOf(request.query));
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
    scores: async ({ principal, query, chunks, signal }) => {
      const weights = weighQuery(query, await readStatistics(principal.id, termsOf(query)));
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

interface PassParts {
  readonly search: Pick<ChunkSearch, 'byTerms'>;
  /** Asks the engine in the caller's turn. */
  readonly inTurn: <Answer>(
    query: () => Promise<Answer>,
    options: CallOptions & { readonly principal: Principal },
  ) => Promise<Answer>;
}

/** A chunk that the engine proposes, with its own score. */
interface ProposedChunk extends OwnScore {
  readonly documentId: string;
}

/** The proposals of passes, the highest own score first. */
interface Proposals {
  readonly shown: readonly ProposedChunk[];
  /** Proposals of hidden generations. */
  readonly hidden: readonly ProposedChunk[];
  /** The highest score by itself of a chunk that was left out. */
  readonly upperBound: number;
  /** True if there may be more chunks that hold the terms. */
  readonly isCutOff: boolean;
}

/** The lowest score of the wanted chunks; 0 where fewer are shown. */
const lowestOf = (shown: readonly ProposedChunk[], wanted: number): number => shown[wanted - 1]?.own ?? 0;

/** Tells whether the wanted chunks with the highest own scores are all among the proposals. */
function isCertain({ shown, upperBound, isCutOff }: Proposals, wanted: number): boolean {
  const lowest = lowestOf(shown, wanted);
  return lowest > 0 ? lowest >= upperBound : upperBound === 0 && !isCutOff;
}

/** Runs passes until the wanted candidates are certain. */
async function runWordPasses(
  { search, inTurn }: PassParts,
  request: WordSearch,
  {
    passes,
    weights,
    wanted,
  }: { readonly passes: readonly WordPass[]; readonly weights: TermWeights; readonly wanted: number },
): Promise<Proposals> {
  const least = leastOwnShare(request.minScore);
  const hidden = new Set<string>();
  let all: ProposedChunk[] = [];
  let proposals: Proposals = { shown: [], hidden: [], upperBound: 0, isCutOff: false };
  for (const { terms, limit, upperBound } of passes) {
    const found = await inTurn(() => search.byTerms({ ...request, terms, limit }), request);
    for (const generation of found.hidden) hidden.add(generation);
    all = await merge(all, await scoreThemselves(found.candidates, weights));
    const holding = all.filter(({ own }) => own > 0 && own >= least);
    proposals = {
      shown: holding.filter(({ generation }) => !hidden.has(generation)),
      hidden: holding.filter(({ generation }) => hidden.has(generation)),
      upperBound,
      isCutOff: found.candidates.length >= limit,
    };
    const lowest = lowestOf(proposals.shown, wanted);
    if (lowest > 0 && lowest >= upperBound) break;
  }
  return proposals;
}

/** Chunks that are handled in one go. Small searches wait for no slice, and there may be tens of thousands of chunks. */
const CHUNKS_AT_ONCE = 256;

/** Scores chunks by themselves. */
async function scoreThemselves(found: readonly FoundChunk[], weights: TermWeights): Promise<ProposedChunk[]> {
  const counts = new Uint8Array(weights.terms.length);
  const scored: ProposedChunk[] = [];
  for (const some of slicesOf(found, CHUNKS_AT_ONCE)) {
    if (scored.length > 0) await nextSlice();
    for (const { documentId, generation, number, terms } of some)
      scored.push({ documentId, generation, number, terms, own: ownShare(terms, weights, counts) });
  }
  return scored;
}

/** Both lists without repetitions, best first, ties by document id and then chunk number. */
async function merge(
  first: readonly ProposedChunk[],
  second: readonly ProposedChunk[],
): Promise<ProposedChunk[]> {
  const all = new Map<string, ProposedChunk>();
  for (const some of slicesOf([...first, ...second], CHUNKS_AT_ONCE)) {
    if (all.size > 0) await nextSlice();
    for (const each of some) all.set(addressOf(each), each);
  }
  if (all.size > CHUNKS_AT_ONCE) await nextSlice();
  return [...all.values()].sort((a, b) => b.own - a.own || compareAddresses(a, b));
}

/** One way of asking the engine for chunks that hold terms. The passes of a plan run in order, until the answer is certain. */
export interface WordPass {
  readonly terms: TermWeights;
  /** The number of candidates that the pass takes. */
  readonly limit: number;
  /**
   * The highest own score of a chunk that this pass and all before it leave out, as in MaxScore (Turtle and Flood 1995). It
   * is the share of the query's weight in the terms that are left to later passes. It does not count terms that no pass
   * searches for, and it holds where no pass was cut off at its limit.
   */
  readonly upperBound: number;
}

interface PlanRequest {
  readonly query: string;
  /** The number of candidates that are wanted. */
  readonly limit: number;
  readonly minScore: number;
}

const MIN_CANDIDATES = 128;
const MAX_CANDIDATES = 1_000;
/** Candidates of a pass for each that is wanted, since the engine's score is another. */
const CANDIDATES_A_HIT = 3;

/** Plans the passes that a search by words may need, cheapest first. The plan is pure. */
export function planWordPasses(request: PlanRequest, statistics: TermStatistics): readonly WordPass[] {
  const { first, all, deferredShare } = splitTerms(request.query, statistics);
  const limit = Math.max(CANDIDATES_A_HIT * request.limit, candidatesOf(statistics));
  const search = (terms: readonly WeightedTerm[], upperBound: number): WordPass[] =>
    terms.length > 0 ? [{ terms: termWeights(terms, statistics), limit, upperBound }] : [];
  const isSecondWorthIt = deferredShare > 0 && deferredShare > leastOwnShare(request.minScore);
  return [...search(first, deferredShare), ...(isSecondWorthIt ? search(all, 0) : [])];
}

/** The more chunks there are, the more of them have similar scores. */
function candidatesOf({ chunks }: TermStatistics): number {
  if (chunks < SMALL_OWNER.chunks) return SMALL_OWNER.candidates;
  return Math.max(MIN_CANDIDATES, Math.min(MAX_CANDIDATES, Math.ceil(Math.sqrt(chunks))));
}

/** Postings are searched for this many terms, since an engine reads all chunks of each. */
const MAX_SEARCHED_TERMS = 64;
/** An engine reads the postings of this many chunks in about the time that another pass takes. */
const CHEAP_POSTINGS = 1_000;
/** Common terms are left to the second pass while they have at most this share of the query's weight together. */
const MAX_DEFERRED_SHARE = 0.15;
/**
 * The same share for terms in more than half of the chunks. Where nearly all chunks have a term and some were deleted,
 * version 8.0 of the engine takes it for the rarest of all, because its inverse document frequency underflows.
 */
const MAX_DEFERRED_SHARE_OF_HALF = 0.2;
/** A caller who owns fewer chunks gets this many candidates, because it is not known how much that caller may read. */
const SMALL_OWNER = { chunks: 1_000, candidates: 200 };

interface SplitTerms {
  /** All terms that are searched for. */
  readonly all: readonly WeightedTerm[];
  /** The terms of the first pass. */
  readonly first: readonly WeightedTerm[];
  /** The share of the query's weight that the first pass leaves to the second. */
  readonly deferredShare: number;
}

/** Leaves the most common terms, whose postings cost most to read, to the second pass while they weigh little. */
function splitTerms(query: string, statistics: TermStatistics): SplitTerms {
  const counted = heaviestTerms(query, statistics);
  const all = counted.slice(0, MAX_SEARCHED_TERMS);
  const total = weightOf(counted);
  const chunksOf = ({ term }: WeightedTerm) => sumOf(statistics.frequencies, term);
  const deferred = new Set<WeightedTerm>();
  let deferredShare = 0;
  for (const each of all.toSorted((a, b) => chunksOf(b) - chunksOf(a))) {
    const share = deferredShare + each.weight / total;
    if (share > maxDeferredShare(chunksOf(each), statistics.chunks)) break;
    deferredShare = share;
    deferred.add(each);
  }
  return { all, first: all.filter((each) => !deferred.has(each)), deferredShare };
}

function maxDeferredShare(holding: number, chunks: number): number {
  // With fewer chunks all of them are candidates, in whatever order the engine returns them.
  if (chunks > SMALL_OWNER.candidates && holding > chunks / 2) return MAX_DEFERRED_SHARE_OF_HALF;
  return holding > CHEAP_POSTINGS ? MAX_DEFERRED_SHARE : 0;
}
