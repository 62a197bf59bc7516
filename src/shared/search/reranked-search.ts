import { at } from '../at.js';
import type { Reranked, Reranking, RerankOutcome, RerankTask } from '../models/reranking.js';
import type { Candidate } from '../ports.js';
import { traced } from '../tracing/tracing.js';
import { bestFirst, addressOf, candidateOf, chunkOfHit } from './candidates.js';
import { createCheckCandidates, takeHits, wasOvertaken, type Search } from './search.js';
import type { ReadHits } from './read-hits.js';
import { timed, type Hit, type SearchRequest } from './request.js';

/** The wish of a request about reranking. */
export interface RerankWish {
  /** The greatest number of hits to return; null: no other bound than `k`. */
  readonly topN: number | null;
}

/** The outcome of the wish. */
export interface RerankReport {
  readonly outcome: RerankOutcome;
  /** The tokens that the provider counted. */
  readonly tokens: number;
}

type RerankedRequest = SearchRequest & { readonly rerank: RerankWish };

export interface RerankedSearch {
  /** Returns the greatest number of hits that a search holds at once. */
  hitsHeld(request: Pick<SearchRequest, 'k' | 'per'>): number;
  /**
   * Finds hits, has them scored anew, and returns the best by that score, which `minScore` bounds; or, where there are no
   * such scores, the best in their first order.
   * @throws UnavailableError when the provider of embeddings or the index cannot answer
   */
  search(request: RerankedRequest): Promise<{ readonly hits: Hit[]; readonly report: RerankReport }>;
}

interface Parts {
  readonly search: Search;
  readonly reranking: Reranking;
  readonly readHits: ReadHits;
}

/** A search whose hits are replaced by others meanwhile begins again this often. */
const MAX_RESTARTS = 1;

/**
 * Reranks the hits of a search. Only hits go to the provider: their caller may read them by records that were read then.
 * They are checked once more when the scores are there, since records may have changed in the meantime; the next best take
 * the places of hits that are gone.
 */
export function createRerankedSearch(parts: Parts): RerankedSearch {
  const { search, reranking, readHits } = parts;
  const width = ({ k }: Pick<SearchRequest, 'k'>) => Math.max(k, reranking.candidates);
  return {
    hitsHeld: (request) => width(request) + (request.per === 'document' ? request.k : 0),
    search: async ({ rerank, ...asked }) => {
      const request = { ...asked, k: Math.min(asked.k, rerank.topN ?? asked.k) };
      if (!reranking.mayBegin(request.principal.id))
        return { hits: await search(request), report: { outcome: 'paused', tokens: 0 } };
      const check = createCheckCandidates(readHits, request);
      let milliseconds = reranking.deadlineMilliseconds;
      for (let restarts = 0; ; restarts += 1) {
        const scored = await findScored(parts, request, { width: width(asked), milliseconds });
        const { candidates, report } = scored;
        const { hits, dropped } = await takeHits(bestFirst(candidates, request), check, request);
        if (restarts === MAX_RESTARTS || !wasOvertaken(candidates, dropped)) return { hits, report };
        milliseconds = scored.millisecondsLeft;
      }
    },
  };
}

interface Limits {
  readonly width: number;
  readonly milliseconds: number;
}

interface Scored {
  readonly candidates: readonly Candidate[];
  readonly report: RerankReport;
  readonly millisecondsLeft: number;
}

/** Finds candidates and their last scores. The texts are not held when it is done. */
async function findScored(
  { search, reranking }: Parts,
  request: SearchRequest,
  { width, milliseconds }: Limits,
): Promise<Scored> {
  const { principal, query, signal, notes } = request;
  const { id: callerId } = principal;
  const hits = await findWidely(search, request, width);
  if (hits.length === 0)
    return { candidates: [], report: { outcome: 'applied', tokens: 0 }, millisecondsLeft: milliseconds };
  const startedAt = performance.now();
  const documents = hits.map(({ content }) => content);
  const reranked =
    milliseconds > 0
      ? await timed(notes, 'rerank', () =>
          tracedReranking(reranking, { callerId, query, documents, milliseconds, signal }),
        )
      : ({ type: 'skipped', reason: 'timeout' } as const);
  const millisecondsLeft = Math.max(0, milliseconds - (performance.now() - startedAt));
  if (reranked.type === 'skipped') {
    const report = { outcome: reranked.reason, tokens: 0 };
    return { candidates: hits.map((hit) => toCandidate(hit, hit.score)), report, millisecondsLeft };
  }
  const { scores, tokens } = reranked;
  if (notes) for (const hit of hits) notes.firstScores.set(addressOf(toCandidate(hit, 0)), hit.score);
  const candidates = hits.map((hit, i) => toCandidate(hit, at(scores, i)));
  return { candidates, report: { outcome: 'applied', tokens }, millisecondsLeft };
}

/** Traces a reranking. An attribute tells its outcome, since it never fails. */
const tracedReranking = (reranking: Reranking, task: RerankTask): Promise<Reranked> =>
  traced('rerank', { attributes: { 'quire.texts': task.documents.length } }, async (span) => {
    const reranked = await reranking.rerank(task);
    span.set({ 'quire.rerank.outcome': reranked.type === 'applied' ? reranked.type : reranked.reason });
    return reranked;
  });

/**
 * Finds the best hits in their first order, whatever they score there. Where they are of fewer documents than are wanted,
 * the best chunks of further documents are added.
 */
async function findWidely(search: Search, request: SearchRequest, width: number): Promise<Hit[]> {
  const wide = { ...request, minScore: 0, per: 'chunk', k: width } as const;
  const hits = await search(wide);
  const documents = new Set(hits.map(({ record }) => record.id));
  if (request.per === 'chunk' || documents.size >= request.k || hits.length < width) return hits;
  const known = new Set(hits.map((hit) => addressOf(toCandidate(hit, 0))));
  const others = (found: readonly Hit[]) => found.filter((hit) => !known.has(addressOf(toCandidate(hit, 0))));
  const onHits = (found: readonly Hit[]) => request.onHits?.([...hits, ...others(found)]);
  const further = await search({ ...request, minScore: 0, per: 'document', onHits });
  return [...hits, ...others(further)];
}

const toCandidate = (hit: Hit, score: number): Candidate => candidateOf(chunkOfHit(hit), score);
