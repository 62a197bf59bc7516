import type { DocumentRecord } from '../document.js';
import type { ListedPage, ListPosition } from '../documents/list-order.js';
import type { Records } from '../documents/records.js';
import type { Candidate, Index } from '../ports.js';
import type { ReadHits } from './read-hits.js';
import type { Hit, SearchRequest } from './request.js';
import { createCheckCandidates, takeHits, wasOvertaken } from './search.js';

/** A search without a query: the filter alone says which documents are found. */
export type NewestRequest = Omit<SearchRequest, 'query' | 'minScore' | 'ranking'>;

/**
 * Finds the chunks of the newest documents, in the order of lists and then of the text, each with the score 1. With
 * `per: 'document'` it finds their first chunks.
 */
export type NewestHits = (request: NewestRequest) => Promise<Hit[]>;

/** Documents that the index lists at a time: few at first, since those that nobody may find any more are rare. */
const [FEWEST_LISTED, MOST_LISTED] = [20, 1_000];
/** A page is read again this often where documents were replaced in between. */
const MAX_RESTARTS = 3;

export function createNewestHits(parts: {
  readonly index: Pick<Index, 'list'>;
  readonly records: Pick<Records, 'readEach'>;
  readonly readHits: ReadHits;
}): NewestHits {
  return async (request) => {
    const { principal, filter, k, signal } = request;
    const hits: Hit[] = [];
    let after: ListPosition | null = null;
    for (let limit = Math.max(FEWEST_LISTED, Math.min(k, MOST_LISTED / 10)); ;) {
      const listing = { principal, filter, after, skip: 0, limit, signal };
      const { ids, next }: ListedPage = await parts.index.list(listing);
      hits.push(...(await hitsOf(ids, parts, { request, before: hits })));
      if (!next || hits.length >= k) return hits;
      after = next;
      limit = Math.min(2 * limit, MOST_LISTED);
    }
  };
}

/** Returns the hits in some documents, as many as are wanted beside those `before` them. */
async function hitsOf(
  ids: readonly string[],
  { records, readHits }: Omit<Parameters<typeof createNewestHits>[0], 'index'>,
  { request, before }: { readonly request: NewestRequest; readonly before: readonly Hit[] },
): Promise<Hit[]> {
  const { principal, k, per, onHits, signal } = request;
  const wanted = {
    k: k - before.length,
    per,
    onHits: (more: readonly Hit[]) => onHits?.([...before, ...more]),
  };
  const check = createCheckCandidates(readHits, request);
  for (let restarts = 0; ; restarts += 1) {
    signal?.throwIfAborted();
    const candidates: Candidate[] = [];
    for await (const record of records.readEach(ids, principal.id)) {
      if (candidates.length >= wanted.k) break;
      if (record) candidates.push(...candidatesOf(record, per === 'document' ? 1 : wanted.k));
    }
    const { hits, dropped } = await takeHits(candidates.values(), check, wanted);
    if (restarts >= MAX_RESTARTS || !wasOvertaken(candidates, dropped)) return hits;
  }
}

/** The first chunks of what a document serves. */
function candidatesOf({ id: documentId, published }: DocumentRecord, most: number): Candidate[] {
  const generation = published?.generation;
  if (!published || !generation) return [];
  return Array.from({ length: Math.min(published.chunkCount, most) }, (_, number) => ({
    documentId,
    generation,
    number,
    score: 1,
  }));
}
