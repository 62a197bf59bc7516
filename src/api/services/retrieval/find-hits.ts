import { ImpossibleError } from '../../../shared/errors.js';
import type { Hit } from '../../../shared/search/hit.js';
import type { SearchRequest } from '../../../shared/search/request.js';
import type {
  RerankedSearch,
  RerankReport,
  RerankWish,
} from '../../../shared/search/reranking/reranked-search.js';
import type { Search } from '../../../shared/search/search.js';
import type { Lease, Wanted } from '../answer-memory/answer-memory.js';
import { bytesOf, searchWithinMemory, type Expected } from './search-within-memory.js';

export interface FindHitsParts {
  readonly search: Search;
  /** Null without a reranker. */
  readonly rerankedSearch: RerankedSearch | null;
}

type HitsRequest = SearchRequest & { readonly rerank: RerankWish | null };

export interface FoundHits {
  readonly hits: readonly Hit[];
  /** Null where none was asked for. */
  readonly rerank: RerankReport | null;
}

/** Memory for the hits of a search. @throws ImpossibleError when the request wants reranking and there is none */
export function hitsWanted(parts: FindHitsParts, request: HitsRequest): Wanted {
  const { callerId, signal } = request;
  return { callerId, signal, bytes: bytesOf(expectedOf(parts, request)) };
}

/** Searches within a lease of the size that `hitsWanted` returns, and reranks where that is asked for. */
export async function findHits(
  parts: FindHitsParts,
  { rerank, ...request }: HitsRequest,
  lease: Lease,
): Promise<FoundHits> {
  const expected = expectedOf(parts, { rerank, ...request });
  if (rerank === null) {
    const hits = await searchWithinMemory(parts.search, request, { lease, expected });
    return { hits, rerank: null };
  }
  const reranked = rerankerOf(parts);
  const { event: _, ...asked } = request;
  const search = (each: SearchRequest) => reranked.search({ ...each, rerank });
  const { hits, report } = await searchWithinMemory(search, asked, { lease, expected });
  return { hits, rerank: report };
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
