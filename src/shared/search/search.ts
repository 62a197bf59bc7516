import type { Embedding } from '../models/embedding.js';
import type { Candidate, Index } from '../ports.js';
import type { TermStatisticsStore } from '../term-statistics/term-statistics.js';
import { bestFirst } from './best-first.js';
import { createFindCandidates } from './find-candidates.js';
import type { Hit } from './hit.js';
import { createCheckCandidates, takeHits, type Dropped } from './check-candidates.js';
import { planPasses } from './plan-passes.js';
import { advance, begin, mayRestart, type Page } from './progress.js';
import { noStatistics } from './query-terms.js';
import type { ChooseRanker } from './ranking.js';
import type { ReadHits } from './read-hits.js';
import type { SearchRequest } from './request.js';

export type Search = (request: SearchRequest) => Promise<Hit[]>;

/**
 * Finds candidates, ranks them and checks every hit against its record, in the same way for all engines. Passes over
 * the index run until none of the chunks that they left out belongs on the page.
 * @throws UnavailableError when the provider or the index cannot answer
 */
export function createSearch(parts: {
  readonly index: Pick<Index, 'search' | 'searchTerms' | 'hasCheapPostings'>;
  readonly embedding: Pick<Embedding, 'embedQuery'>;
  readonly chooseRanker: ChooseRanker;
  readonly readHits: ReadHits;
  readonly statistics: Pick<TermStatisticsStore, 'read'>;
}): Search {
  const { index, embedding, chooseRanker, readHits, statistics } = parts;
  return async (request) => {
    const { callerId, query, k, minScore, signal } = request;
    const ranker = chooseRanker(request.ranking);
    const embed = once(async () => (await embedding.embedQuery(query, { signal })).vector);
    const [counts] = await Promise.all([
      ranker.reads.includes('terms') ? statistics.read(callerId, ranker.queryTerms(query)) : noStatistics,
      // The vector is started here when it is needed for certain, since the plan waits for the statistics.
      ranker.reads.includes('similarity') ? embed() : null,
    ]);

    const check = createCheckCandidates(readHits, request);
    const find = createFindCandidates({ index, ranker, request, embed });
    const { hasCheapPostings } = index;
    let progress = begin(planPasses(ranker.ranking, { query, k, minScore, hasCheapPostings }, counts));
    let hits: Hit[] = [];
    while (progress.step === 'find') {
      const found = await find(progress.passes);
      const scores = ranker.rank(query, found.candidates, counts);
      const taken = await takeHits(bestFirst(found.candidates, scores, { k, minScore }), check, request);
      hits = taken.hits;
      const isOvertaken = mayRestart(progress) && wasOvertaken(found.candidates, taken.dropped);
      progress = advance(
        progress,
        isOvertaken ? { kind: 'overtaken' } : pageOf(taken, request),
        found.counts,
      );
    }
    return hits;
  };
}

function pageOf(
  { hits, dropped }: { readonly hits: readonly Hit[]; readonly dropped: readonly Dropped[] },
  { k, per }: SearchRequest,
): Page {
  const last = hits[k - 1];
  if (last) return { kind: 'full', lowestScore: last.score };
  return { kind: 'open', isCrowded: dropped.length > 0 || per === 'document' };
}

/** Whether a document serves a generation of which there is no candidate. */
function wasOvertaken(candidates: readonly Candidate[], dropped: readonly Dropped[]): boolean {
  const found = new Set(candidates.map(({ generation }) => generation));
  return dropped.some(({ servedBy }) => servedBy !== null && !found.has(servedBy));
}

/** Runs a task at the first call, and returns the same promise from then on. */
function once<Value>(task: () => Promise<Value>): () => Promise<Value> {
  let answer: Promise<Value> | null = null;
  return () => (answer ??= task());
}
