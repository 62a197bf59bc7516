import { canRead } from './access.js';
import { bestFirst, type Scored } from './best-first.js';
import type { MatchableDocument } from './document.js';
import type { Embedding } from './embedding.js';
import { compileFilter } from './filter-match.js';
import type { Filter } from './filters.js';
import type { Candidate, Index } from './ports.js';
import { createProposals } from './proposals.js';
import { noStatistics } from './query-words.js';
import type { ChooseRanker, Ranking } from './ranking.js';
import type { ReadHits } from './read-hits.js';
import type { TermStatisticsStore } from './term-statistics.js';

export interface SearchRequest {
  readonly callerId: string;
  readonly query: string;
  readonly filter: Filter | null;
  /** Most hits to return. */
  readonly k: number;
  readonly minScore: number;
  /** Absent: the standard one. */
  readonly ranking?: Ranking | undefined;
  /** `document`: each document once, by its best chunk. */
  readonly per: 'chunk' | 'document';
  readonly signal?: AbortSignal;
}

/** A chunk that the caller may read, as its record said when the answer was built. */
export interface Hit {
  readonly record: MatchableDocument;
  readonly number: number;
  readonly content: string;
  /** In [0, 1]; hits come in its order, ties by document, then chunk number. */
  readonly score: number;
}

/** Why a candidate is no hit: `servedBy` is what its document is served by instead, where the caller may have that. */
interface Dropped {
  readonly servedBy: string | null;
}
type Check = (candidates: readonly Scored[]) => Promise<(Hit | Dropped)[]>;

export type Search = (request: SearchRequest) => Promise<Hit[]>;

/** Candidates are checked this many at a time, so that a large `k` never blocks the event loop. */
const CHECK_SIZE = 100;

/** Searches begun again because a document was published anew under them. */
const MOST_RESTARTS = 3;

/**
 * Vector search, ranking, and the check of every hit against its record, once for all engines.
 * @throws UnavailableError when the provider or the index cannot answer
 */
export function createSearch(parts: {
  readonly index: Index;
  readonly embedding: Embedding;
  readonly chooseRanker: ChooseRanker;
  readonly readHits: ReadHits;
  readonly statistics: TermStatisticsStore;
}): Search {
  const { index, embedding, chooseRanker, readHits, statistics } = parts;

  const checker = ({ callerId, filter }: SearchRequest): Check => {
    const fits = filter ? compileFilter(filter) : () => true;
    return async (candidates) => {
      const ids = [...new Set(candidates.map(({ documentId }) => documentId))];
      const { contents, records } = await readHits(candidates, ids);
      const byId = new Map(ids.map((id, i) => [id, records[i] ?? null]));
      return candidates.map(({ documentId, generation, number, score }, i) => {
        const record = byId.get(documentId) ?? null;
        const content = contents[i] ?? null;
        if (!record || !canRead(callerId, record) || !fits(record)) return { servedBy: null };
        const servedBy = record.published?.generation ?? null;
        return content !== null && servedBy === generation
          ? { record, number, content, score }
          : { servedBy };
      });
    };
  };

  const embed =
    ({ query, signal }: SearchRequest) =>
    async () =>
      (await embedding.embedQuery(query, { signal })).vector;

  return async (request) => {
    const { callerId, query, k, per } = request;
    const check = checker(request);
    const ranker = chooseRanker(request.ranking);
    const counted = ranker.reads.includes('terms')
      ? statistics.read(callerId, ranker.queryTerms(query))
      : noStatistics;
    const proposals = createProposals({
      ...{ index, ranker, request, embed: once(embed(request)), statistics: counted },
    });
    let restarts = 0;
    for (;;) {
      const [candidates, known] = await Promise.all([proposals.ask(), counted]);
      const scores = ranker.rank(query, candidates, known);
      const ordered = bestFirst(candidates, scores, request.minScore);
      const { hits, dropped } = await firstHits(ordered, check, { k, per });
      if (restarts < MOST_RESTARTS && isOvertaken(candidates, dropped)) {
        restarts += 1;
        continue;
      }
      const last = hits[k - 1];
      if (last && last.score >= proposals.missed()) return hits;
      // Nothing is missing unless stale hits took places of a full page, or one document took them all.
      const isEnough = last !== undefined || (dropped.length === 0 && per === 'chunk');
      if (!proposals.widen(isEnough)) return hits;
    }
  };
}

/** Asks once, when it is asked for the first time. */
function once<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let answer: Promise<Value> | null = null;
  return () => (answer ??= ask());
}

/** Whether a document is served by what the index did not know yet: it has neither the old nor the new hits. */
function isOvertaken(candidates: readonly Candidate[], dropped: readonly Dropped[]): boolean {
  return dropped.some(
    ({ servedBy }) => servedBy !== null && candidates.every(({ generation }) => generation !== servedBy),
  );
}

async function firstHits(
  ordered: Iterator<Scored>,
  check: Check,
  { k, per }: { k: number; per: 'chunk' | 'document' },
) {
  const hits: Hit[] = [];
  const seen = new Set<string>();
  const dropped: Dropped[] = [];
  while (hits.length < k) {
    const page: Scored[] = [];
    while (page.length < Math.min(CHECK_SIZE, k - hits.length)) {
      const next = ordered.next();
      if (next.done) break;
      // By generation: a stale one must not stand in the way of the one that serves.
      if (per === 'document' && seen.has(next.value.generation)) continue;
      seen.add(next.value.generation);
      page.push(next.value);
    }
    if (page.length === 0) break;
    for (const hit of await check(page)) {
      if ('record' in hit) hits.push(hit);
      else dropped.push(hit);
    }
  }
  return { hits, dropped };
}
