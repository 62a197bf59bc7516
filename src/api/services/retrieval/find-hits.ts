import type { Shared, SharedViews } from '../../../shared/access/sharing.js';
import { ImpossibleError } from '../../../shared/errors.js';
import type { Filter } from '../../../shared/filters/parse.js';
import type { NewestHits } from '../../../shared/search/newest-hits.js';
import type { Hit, SearchRequest } from '../../../shared/search/request.js';
import type { RerankedSearch, RerankReport, RerankWish } from '../../../shared/search/reranked-search.js';
import type { Search } from '../../../shared/search/search.js';
import { heldSize, type MemoryLease, type Wanted } from '../answer-memory/answer-memory.js';

export interface FindHitsParts {
  readonly search: Search;
  /** The hits of a request without a query. */
  readonly newestHits: NewestHits;
  /** Null without a reranker. */
  readonly rerankedSearch: RerankedSearch | null;
  readonly sharedViews: Pick<SharedViews, 'within'>;
}

type HitsRequest = Omit<SearchRequest, 'guard' | 'query'> & {
  /** Null where the filter alone says which documents are found. */
  readonly query: string | null;
  readonly rerank: RerankWish | null;
  /** The documents of others that are found; as the setting says where it is undefined. */
  readonly shared?: Shared | undefined;
};

export interface SearchResult {
  readonly hits: readonly Hit[];
  /** Null where none was asked for. */
  readonly rerank: RerankReport | null;
  /** The documents that were looked for: the filter of the request, and the rule of the caller for documents of others. */
  readonly filter: Filter | null;
}

/** Memory for the hits of a search. @throws ImpossibleError when the request wants reranking and there is none */
export function hitsWanted(parts: FindHitsParts, request: HitsRequest): Wanted {
  const { principal, signal } = request;
  return { callerId: principal.id, signal, bytes: bytesOf(expectedOf(parts, request)) };
}

/** Searches within a lease of the size that `hitsWanted` returns, and reranks where that is asked for. */
export function findHits(
  parts: FindHitsParts,
  request: HitsRequest,
  lease: MemoryLease,
): Promise<SearchResult> {
  const expected = expectedOf(parts, request);
  const { query, rerank, shared: _, ...asked } = request;
  return parts.sharedViews.within(request, async ({ filter, guard }) => {
    if (query === null) {
      const listed = { ...asked, filter, guard };
      const hits = await searchWithinMemory(parts.newestHits, listed, { lease, expected });
      return { hits, rerank: null, filter };
    }
    const viewed = { ...asked, query, filter, guard };
    if (rerank === null) {
      const hits = await searchWithinMemory(parts.search, viewed, { lease, expected });
      return { hits, rerank: null, filter };
    }
    const reranked = rerankerOf(parts);
    const search = (each: SearchRequest) => reranked.search({ ...each, rerank });
    const { hits, report } = await searchWithinMemory(search, viewed, { lease, expected });
    return { hits, rerank: report, filter };
  });
}

function expectedOf(parts: FindHitsParts, { rerank, k, per }: HitsRequest): Expected {
  if (rerank === null) return { hits: k, copies: 1 };
  // The request to the provider holds each text once more.
  return { hits: rerankerOf(parts).hitsHeld({ k, per }), copies: 2 };
}

function rerankerOf({ rerankedSearch }: FindHitsParts): RerankedSearch {
  if (rerankedSearch) return rerankedSearch;
  throw new ImpossibleError(
    'There is no reranker: `rerank` needs the setting `reranker` of the service, which is "none"',
  );
}

/** Memory that is reserved for a hit before its size is known. Few hits are larger. */
const HIT_BYTES = 16 * 1024;
/** Bytes of a hit besides its text and metadata. */
const OWN_BYTES = 1_000;

/** The greatest number of hits and copies that a search holds at once. */
interface Expected {
  /** The most hits. */
  readonly hits: number;
  /** The number of copies of each hit. */
  readonly copies: number;
}

/** The memory that is reserved for it. */
const bytesOf = ({ hits, copies }: Expected): number => hits * copies * HIT_BYTES;

/**
 * Searches within a lease, which must be of the size that is expected. Hits that turn out larger than the room that is left
 * are dropped, and the search is repeated when there is enough room.
 * @throws UnavailableError when no room becomes free in time
 */
async function searchWithinMemory<Request extends Pick<SearchRequest, 'signal' | 'onHits'>, Found>(
  search: (request: Request) => Promise<Found>,
  request: Request,
  { lease, expected }: { readonly lease: MemoryLease; readonly expected: Expected },
): Promise<Found> {
  const { signal } = request;
  for (let wanted = bytesOf(expected); ;) {
    const measure = createMeasure();
    const onHits = (hits: readonly Hit[]) => {
      const bytes = expected.copies * measure(hits);
      // The remaining hits are expected to be as large, so that a search is repeated once or twice, not after each batch.
      if (!lease.resize(Math.max(wanted, bytes)))
        throw new OutOfRoomError((bytes * expected.hits) / hits.length);
    };
    try {
      return await search({ ...request, onHits });
    } catch (error) {
      if (!(error instanceof OutOfRoomError)) throw error;
      wanted = Math.max(wanted, Math.ceil(error.bytes));
      await lease.exchange({ bytes: wanted, signal, isSent: false });
    }
  }
}

/** Returns a function that measures hits. When it is called with a list that has grown, it measures only the new hits. */
function createMeasure(): (hits: readonly Hit[]) => number {
  let [known, measured, bytes]: [readonly Hit[], number, number] = [[], 0, 0];
  return (hits) => {
    if (hits !== known) [known, measured, bytes] = [hits, 0, 0];
    for (const { content, spots, location, section, record } of hits.slice(measured))
      bytes += OWN_BYTES + heldSize([content, spots, location, section]) + heldSize(record.metadata);
    measured = hits.length;
    return bytes;
  };
}

class OutOfRoomError extends Error {
  override readonly name = 'OutOfRoomError';
  /** An estimate of the bytes that all hits take. */
  readonly bytes: number;

  constructor(bytes: number) {
    super('the hits of a search do not fit the memory reserved for them');
    this.bytes = bytes;
  }
}
