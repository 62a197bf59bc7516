import type { Shared, SharedViews } from '../../../shared/access/sharing.js';
import { ImpossibleError } from '../../../shared/errors.js';
import type { Filter } from '../../../shared/filters/parse.js';
import type { Hit, SearchRequest } from '../../../shared/search/request.js';
import type { RerankedSearch, RerankReport, RerankWish } from '../../../shared/search/reranked-search.js';
import type { Search } from '../../../shared/search/search.js';
import type { Lease, Wanted } from '../answer-memory/answer-memory.js';
import { bytesOf, searchWithinMemory, type Expected } from './search-within-memory.js';

export interface FindHitsParts {
  readonly search: Search;
  /** Null without a reranker. */
  readonly rerankedSearch: RerankedSearch | null;
  readonly sharedViews: Pick<SharedViews, 'within'>;
}

type HitsRequest = Omit<SearchRequest, 'guard'> & {
  readonly rerank: RerankWish | null;
  /** The documents of others that are found; as the setting says where it is undefined. */
  readonly shared?: Shared | undefined;
};

export interface FoundHits {
  readonly hits: readonly Hit[];
  /** Null where none was asked for. */
  readonly rerank: RerankReport | null;
  /** The documents that were looked for: the filter of the request, and the rule of the caller for documents of others. */
  readonly filter: Filter | null;
}

/** Memory for the hits of a search. @throws ImpossibleError when the request wants reranking and there is none */
export function hitsWanted(parts: FindHitsParts, request: HitsRequest): Wanted {
  const { callerId, signal } = request;
  return { callerId, signal, bytes: bytesOf(expectedOf(parts, request)) };
}

/** Searches within a lease of the size that `hitsWanted` returns, and reranks where that is asked for. */
export function findHits(parts: FindHitsParts, request: HitsRequest, lease: Lease): Promise<FoundHits> {
  const expected = expectedOf(parts, request);
  const { rerank, shared: _, ...asked } = request;
  return parts.sharedViews.within(request, async ({ filter, guard }) => {
    const viewed = { ...asked, filter, guard };
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
