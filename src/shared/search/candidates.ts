import type { Candidate, ChunkOfDocument, Index } from '../ports.js';
import type { Scores, Ranker, VectorWeight } from './ranking.js';
import type { Confirmation } from './read-hits.js';
import type { Hit, SearchRequest } from './request.js';

/** Candidates with the scores that the ranking gives them, in any order. */
export interface FoundCandidates {
  readonly candidates: readonly Candidate[];
  /** True if there may be more than these. */
  readonly isCutOff: boolean;
  /** The number of candidates that must be left without the dropped ones, because they were chosen by another score. */
  readonly needed: number;
  /**
   * One candidate of each generation that went away while its chunks were scored, so that its replacement may not be among
   * these.
   */
  readonly gone: readonly Candidate[];
  /** The part of the vectors in the scores of these. */
  readonly vectors: VectorWeight;
}

/** Finds candidates for a page, the best among them. @param width 1 at first, and more when too few of them were hits */
export type FindCandidates = (width: number) => Promise<FoundCandidates>;

interface FindContext {
  readonly index: Pick<Index, 'vectors' | 'words'>;
  readonly ranker: Ranker;
  readonly request: Pick<
    SearchRequest,
    'principal' | 'filter' | 'signal' | 'query' | 'k' | 'minScore' | 'per'
  >;
  /** Makes the vector of the query. */
  readonly embed: () => Promise<Float32Array>;
  readonly confirmation: Pick<Confirmation, 'onUnconfirmed'>;
}

/**
 * Candidates beyond `k`, since some may have changed meanwhile, an engine may cut off equal ones arbitrarily, and words
 * find chunks by their own scores, before their sections count.
 */
const SPARE = 16;
/** Pages of documents begin with this many candidates for each hit, because a document may have several chunks among them. */
const CHUNKS_A_DOCUMENT = 4;
/**
 * The least numbers of nearest candidates, and of candidates that hold the words, that may turn out best with a hybrid
 * ranking.
 */
const MIN_HYBRID_NEAREST = 400;
const MIN_HYBRID_WORDS = 50;

export function createFindCandidates(context: FindContext): FindCandidates {
  switch (context.ranker.ranking) {
    case 'lexical':
      return (width) => findByWords(context, width);
    case 'semantic':
      return (width) => findNearest(context, width);
    case 'hybrid':
      return (width) => findHybrid(context, width);
  }
}

async function findByWords(
  { index, ranker, request, confirmation }: FindContext,
  width: number,
): Promise<FoundCandidates> {
  const { principal, filter, signal, query, k, minScore, per } = request;
  const needed = (per === 'document' ? CHUNKS_A_DOCUMENT : 1) * k + SPARE;
  const limit = width * needed;
  const enough = per === 'document' ? limit : width * k;
  const { onUnconfirmed } = confirmation;
  const asked = { query, principal, filter, minScore, limit, enough, onUnconfirmed, signal };
  const candidates = await index.words.search(asked);
  // With a least score, `enough` candidates may be only some of all.
  const isCutOff = candidates.length >= (minScore > 0 ? enough : limit);
  return { candidates, isCutOff, needed, gone: [], vectors: ranker.combineFor([]).vectors };
}

async function findNearest(
  { index, ranker, request, embed }: FindContext,
  width: number,
): Promise<FoundCandidates> {
  const { principal, filter, signal, k } = request;
  const limit = width * (k + SPARE);
  const nearest = await index.vectors.search({ vector: await embed(), principal, filter, limit, signal });
  const combine = ranker.combineFor([]);
  return {
    candidates: nearest.map((each) => candidateOf(each, combine(each.score, 0))),
    isCutOff: nearest.length >= limit,
    needed: 0,
    gone: [],
    vectors: combine.vectors,
  };
}

/** Takes the nearest and the candidates that hold the words, and scores them as far as both scores of all of them say. */
async function findHybrid(context: FindContext, width: number): Promise<FoundCandidates> {
  const { index, ranker, request, embed } = context;
  const { principal, filter, signal, query, k } = request;
  const vector = await embed();
  const nearestLimit = width * Math.max(MIN_HYBRID_NEAREST, 4 * k);
  const wordsLimit = width * Math.max(MIN_HYBRID_WORDS, k + SPARE);
  const [nearest, holding] = await Promise.all([
    index.vectors.search({ vector, principal, filter, limit: nearestLimit, signal }),
    // Any score above 0 will do.
    index.words.search({ query, principal, filter, minScore: Number.MIN_VALUE, limit: wordsLimit, signal }),
  ]);
  const scored = await scoreTwice(context, { vector, nearest, holding });
  const there = scored.filter(isThere);
  const combine = ranker.combineFor(there);
  const gone = scored.filter((each) => !isThere(each)).map(({ chunk }) => candidateOf(chunk, Number.NaN));
  return {
    candidates: there.map(({ chunk, similarity, share }) => candidateOf(chunk, combine(similarity, share))),
    gone: [...new Map(gone.map((each) => [each.generation, each])).values()],
    isCutOff: nearest.length >= nearestLimit || holding.length >= wordsLimit,
    needed: 0,
    vectors: combine.vectors,
  };
}

interface ScoredTwice extends Scores {
  readonly chunk: ChunkOfDocument;
}

/** Tells whether a chunk is still there. A chunk that went away in between lacks a score. */
const isThere = ({ similarity, share }: Scores) => !Number.isNaN(similarity) && !Number.isNaN(share);

/** Adds the missing other score to each of the nearest and of the candidates that hold the words. */
async function scoreTwice(
  { index, request: { principal, query, signal } }: Pick<FindContext, 'index' | 'request'>,
  found: {
    readonly vector: Float32Array;
    readonly nearest: readonly Candidate[];
    readonly holding: readonly Candidate[];
  },
): Promise<ScoredTwice[]> {
  const { vector, nearest, holding } = found;
  const byVector = byAddress(nearest);
  const byWords = byAddress(holding);
  const onlyNear = nearest.filter((each) => !byWords.has(addressOf(each)));
  const onlyHolding = holding.filter((each) => !byVector.has(addressOf(each)));
  const [shares, similarities] = await Promise.all([
    onlyNear.length > 0 ? index.words.scores({ query, principal, chunks: onlyNear, signal }) : [],
    onlyHolding.length > 0
      ? index.vectors.similarities({ vector, principal, chunks: onlyHolding, signal })
      : [],
  ]);
  const both = nearest.flatMap((chunk) => {
    const share = byWords.get(addressOf(chunk))?.score;
    return share === undefined ? [] : [{ chunk, similarity: chunk.score, share }];
  });
  return [
    ...both,
    ...onlyNear.map((chunk, i) => ({ chunk, similarity: chunk.score, share: shares[i] ?? Number.NaN })),
    ...onlyHolding.map((chunk, i) => {
      return { chunk, similarity: similarities[i] ?? Number.NaN, share: chunk.score };
    }),
  ];
}

const byAddress = (candidates: readonly Candidate[]): ReadonlyMap<string, Candidate> =>
  new Map(candidates.map((each) => [addressOf(each), each]));

export const candidateOf = (
  { documentId, generation, number }: ChunkOfDocument,
  score: number,
): Candidate => ({ documentId, generation, number, score });

/** Names the chunk of a hit. */
export function chunkOfHit({ record, number }: Pick<Hit, 'record' | 'number'>): ChunkOfDocument {
  const generation = record.published?.generation;
  if (generation == null) throw new Error('a hit of a document that serves nothing');
  return { documentId: record.id, generation, number };
}

/** Names a chunk in maps and sets. */
export const addressOf = ({ generation, number }: Omit<ChunkOfDocument, 'documentId'>): string =>
  `${generation}:${String(number)}`;

/** Orders candidates best first, ties by document id and then chunk number. */
export const compareCandidates = (a: Candidate, b: Candidate): number =>
  b.score - a.score || compareAddresses(a, b);

/** Orders chunks by document id and then chunk number. */
export function compareAddresses(a: ChunkOfDocument, b: ChunkOfDocument): number {
  if (a.documentId !== b.documentId) return a.documentId < b.documentId ? -1 : 1;
  return a.number - b.number;
}

/**
 * Yields the candidates of at least `minScore`, best first, ties by document and then chunk number. The `k` best and any
 * ties with the last of them are sorted at once. The others are sorted only when the reader goes on, because comparing
 * hundreds of candidates takes ten times as long as the native sort of their scores.
 */
export function* bestFirst(
  candidates: readonly Candidate[],
  { k, minScore }: { readonly k: number; readonly minScore: number },
): Generator<Candidate> {
  const scores = Float64Array.from(candidates, ({ score }) => score);
  // With fewer than `k` candidates there is no border: all scores are at least 0.
  const border = scores.sort().at(-k) ?? 0;
  yield* candidates.filter(({ score }) => score >= minScore && score >= border).sort(compareCandidates);
  yield* candidates.filter(({ score }) => score >= minScore && score < border).sort(compareCandidates);
}
