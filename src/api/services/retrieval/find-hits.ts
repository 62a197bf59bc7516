import { bothFilters, type Shared, type SharedViews } from '../../../shared/access/sharing.js';
import { ImpossibleError } from '../../../shared/errors.js';
import type { Filter } from '../../../shared/filters/parse.js';
import type { ExplainHits, Explanation } from '../../../shared/search/explain-hits.js';
import type { Highlight } from '../../../shared/search/highlight.js';
import type { NewestHits } from '../../../shared/search/newest-hits.js';
import {
  createNotes,
  timed,
  type Hit,
  type SearchNotes,
  type SearchRequest,
} from '../../../shared/search/request.js';
import type { RerankedSearch, RerankReport, RerankWish } from '../../../shared/search/reranked-search.js';
import type { RecheckHits, Search } from '../../../shared/search/search.js';
import type { TextSpan } from '../../../shared/text/sentences.js';
import type { ContextWish, WidenHits } from '../../../shared/search/widen-hits.js';
import type { Collections } from '../collections/collections.js';
import { heldSize, type MemoryLease, type Wanted } from '../answer-memory/answer-memory.js';

export interface FindHitsParts {
  readonly search: Search;
  /** The hits of a request without a query. */
  readonly newestHits: NewestHits;
  /** Null without a reranker. */
  readonly rerankedSearch: RerankedSearch | null;
  readonly sharedViews: Pick<SharedViews, 'within'>;
  readonly details: HitDetails;
  readonly collections: Pick<Collections, 'scope'>;
}

/** The further steps of a search, which only who asks for them waits for. */
export interface HitDetails {
  readonly widen: WidenHits;
  readonly highlight: Highlight;
  readonly recheck: RecheckHits;
  readonly explain: ExplainHits;
}

/** A wish for more than the hits of a search. */
export interface DetailsWish {
  readonly highlight?: boolean | undefined;
  readonly explain?: boolean | undefined;
  /** The chunks around hits that are to be shown with them. */
  readonly context?: ContextWish | undefined;
}

type HitsRequest = Omit<SearchRequest, 'guard' | 'notes' | 'query'> &
  DetailsWish & {
    /** Null where the filter alone says which documents are found. */
    readonly query: string | null;
    readonly rerank: RerankWish | null;
    /** The documents of others that are found; as the setting says where it is undefined. */
    readonly shared?: Shared | undefined;
    /** The collection that is searched; undefined for all documents. */
    readonly collection?: string | undefined;
  };

export interface SearchResult {
  readonly hits: readonly Hit[];
  /** Null where none was asked for. */
  readonly rerank: RerankReport | null;
  /** The documents that were looked for: the filter of the request, and the rule of the caller for documents of others. */
  readonly filter: Filter | null;
  /** The parts of the text of each hit by which it was found; null where nobody asked for them. */
  readonly highlights: readonly (readonly TextSpan[])[] | null;
  /** Null where nobody asked for more than hits. */
  readonly notes: SearchNotes | null;
}

/** Memory for the hits of a search. @throws ImpossibleError when the request wants reranking and there is none */
export function hitsWanted(parts: FindHitsParts, request: HitsRequest): Wanted {
  const { principal, signal } = request;
  return { callerId: principal.id, signal, bytes: bytesOf(expectedOf(parts, request)) };
}

/**
 * Searches within a lease of the size that `hitsWanted` returns, and reranks where that is asked for.
 * @throws NotFoundError for a collection that the caller may not read
 */
export async function findHits(
  parts: FindHitsParts,
  request: HitsRequest,
  lease: MemoryLease,
): Promise<SearchResult> {
  const expected = expectedOf(parts, request);
  const { query, rerank, shared: _, collection, highlight, explain, context, ...asked } = request;
  const notes = highlight === true || explain === true ? createNotes() : null;
  const scope = await parts.collections.scope(collection, request.principal);
  const looking = scope ? { ...request, filter: bothFilters(request.filter, scope) } : request;
  return parts.sharedViews.within(looking, async ({ filter, guard }) => {
    const viewed = { ...asked, filter, guard, notes: notes ?? undefined };
    if (query === null) {
      const hits = await searchWithinMemory(parts.newestHits, viewed, { lease, expected });
      return { hits, highlights: null, rerank: null, filter, notes };
    }
    let report: RerankReport | null = null;
    const search = async (each: SearchRequest) => {
      if (rerank === null) return parts.search(each);
      const reranked = await rerankerOf(parts).search({ ...each, rerank });
      ({ report } = reranked);
      return reranked.hits;
    };
    const searchFully = async (each: SearchRequest): Promise<Found> =>
      highlight || context
        ? findWidened(parts.details, search, { ...each, highlight, context })
        : { hits: await search(each), highlights: null };
    const found = await searchWithinMemory(searchFully, { ...viewed, query }, { lease, expected });
    return { ...found, rerank: report, filter, notes };
  });
}

/** A search whose hits were replaced before they were widened or marked begins again this often. */
const MAX_RESTARTS = 3;

type Found = Pick<SearchResult, 'hits' | 'highlights'>;
type Overtaken<Result> = Result & { readonly isOvertaken: boolean };

async function findWidened(
  details: HitDetails,
  search: Search,
  request: SearchRequest & Pick<DetailsWish, 'highlight' | 'context'>,
): Promise<Found> {
  const { context, notes } = request;
  for (let restarts = 0; ; restarts += 1) {
    const hits = await search(request);
    const widened = context
      ? await timed(notes, 'context', () => details.widen(hits, { ...request, context }))
      : { hits, isOvertaken: false };
    const marked = await mark(details, widened.hits, request);
    const isOvertaken = widened.isOvertaken || marked.isOvertaken;
    if (!isOvertaken || restarts === MAX_RESTARTS)
      return { hits: marked.hits, highlights: marked.highlights };
  }
}

/** Marks hits, and checks them again where a model has read sentences for it, which may take a while. */
async function mark(
  details: HitDetails,
  hits: readonly Hit[],
  request: SearchRequest & Pick<DetailsWish, 'highlight'>,
): Promise<Overtaken<Found>> {
  const { query, notes, signal } = request;
  if (!request.highlight || !notes) return { hits, highlights: null, isOvertaken: false };
  const texts = hits.map(({ content }) => content);
  const highlights = await timed(notes, 'highlight', () =>
    details.highlight(texts, { query, notes, signal }),
  );
  if (notes.vector === null) return { hits, highlights, isOvertaken: false };
  const { areHits, isOvertaken } = await details.recheck(hits, request);
  const isHit = (_: unknown, i: number) => areHits[i] === true;
  return { hits: hits.filter(isHit), highlights: highlights.filter(isHit), isOvertaken };
}

function expectedOf(parts: FindHitsParts, { rerank, k, per, context }: HitsRequest): Expected {
  // The text of a widened hit is held beside the texts that it is joined of.
  if (rerank === null) return { hits: k, copies: context ? 2 : 1 };
  // The request to the provider holds each text once more.
  return { hits: rerankerOf(parts).hitsHeld({ k, per }), copies: 2 };
}

function rerankerOf({ rerankedSearch }: FindHitsParts): RerankedSearch {
  if (rerankedSearch) return rerankedSearch;
  throw new ImpossibleError(
    'There is no reranker: `rerank` needs the setting `reranker` of the service, which is "none"',
  );
}

/** The explanations of hits, and the milliseconds that the steps of their search took; null where nobody asked for them. */
export interface Explained {
  readonly explanations: readonly (Explanation | null)[] | null;
  readonly times: SearchNotes['times'] | null;
}

/** Explains hits, where the request asks for that. */
export async function explainHits(
  { details }: Pick<FindHitsParts, 'details'>,
  { hits, notes }: Pick<SearchResult, 'hits' | 'notes'>,
  request: DetailsWish & Pick<HitsRequest, 'principal' | 'query' | 'signal'>,
): Promise<Explained> {
  if (!notes || !request.explain || request.query === null) return { explanations: null, times: null };
  const { principal, query, signal } = request;
  const asked = { principal, query, notes, signal };
  const explanations = await timed(notes, 'explain', () => details.explain(hits, asked));
  return { explanations, times: notes.times };
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
        throw new OutOfRoomError(bytes * Math.max(1, expected.hits / hits.length));
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
