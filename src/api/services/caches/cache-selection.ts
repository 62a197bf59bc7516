import { canFind, canRead, type Principal } from '../../../shared/access/access.js';
import { bothFilters, type Shared, type SharedViews } from '../../../shared/access/sharing.js';
import { wholeChunking } from '../../../shared/chunking.js';
import { shownContent, type DocumentRecord } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import { ConflictError, ImpossibleError } from '../../../shared/errors.js';
import type { ListedPage, ListPosition } from '../../../shared/documents/list-order.js';
import { parseFilter, type Filter } from '../../../shared/filters/parse.js';
import type { Index } from '../../../shared/ports.js';
import type { Collections } from '../collections/collections.js';
import { documentNotFound, isDocumentId } from '../documents/document-access.js';

export interface Selected {
  readonly docs?: readonly string[] | undefined;
  /** Selects readable documents that match. Null selects all readable documents, undefined none. */
  readonly filter?: Filter | null | undefined;
  /** The collection whose documents are selected, of those that match. */
  readonly collection?: string | undefined;
  /** Tokens that a cache can hold. A selection that cannot fit is not read to its end. */
  readonly maxTokens: number;
  /** The documents of others that a cache takes. */
  readonly shared: Shared;
}

export interface CacheSelection {
  /**
   * @throws NotFoundError for an unknown or unreadable id, also of the collection, ConflictError for a listed document that is not completed, or that
   *   the cache does not take
   */
  select(principal: Principal, selected: Selected): Promise<string[]>;
  /** Selects the documents that match a cache's stored filters; none without filters and a collection. */
  matching(
    principal: Principal,
    filters: unknown,
    limits: Pick<Selected, 'maxTokens' | 'shared' | 'collection'>,
  ): Promise<string[]>;
}

const PAGE = 200;

interface Dependencies {
  readonly index: Pick<Index, 'list'>;
  readonly records: Pick<Records, 'readEach'>;
  readonly sharedViews: Pick<SharedViews, 'filterOf' | 'predicateOf'>;
  readonly collections: Pick<Collections, 'scope'>;
  /** The maximum number of tokens that a chunk repeats from the one before. */
  /** The way in which contents are cut that do not say it. */
  readonly chunk: { readonly size: number; readonly overlap: number };
}

/** Selects the documents of a named cache. */
export function createCacheSelection(parts: Dependencies): CacheSelection {
  return {
    select: async (principal, { docs, filter, ...limits }) => {
      const named = docs ? await checkListed(parts, { principal, ...limits }, docs) : [];
      const found = filter === undefined ? [] : await matching(parts, principal, { filter, ...limits });
      return [...new Set([...named, ...found])];
    },
    matching: async (principal, filters, limits) => {
      if (filters === null && limits.collection === undefined) return [];
      const parsed = parseFilter(filters);
      // The limits for filters may have been higher when these were stored.
      if ('errors' in parsed)
        throw new ImpossibleError(`The filters of this cache are refused today: ${reasonOf(parsed.errors)}`);
      return matching(parts, principal, { filter: parsed.filter, ...limits });
    },
  };
}

/** Returns the listed ids, each once. They are checked in pages, because there may be 100,000. */
async function checkListed(
  { records, sharedViews }: Dependencies,
  { principal, shared }: { readonly principal: Principal; readonly shared: Shared },
  docs: readonly string[],
): Promise<string[]> {
  const isTaken = await sharedViews.predicateOf({ principal, shared });
  const ids = new Set<string>();
  let unfinished: DocumentRecord | null = null;
  for (let first = 0; first < docs.length; first += PAGE) {
    const page = new Set(docs.slice(first, first + PAGE).filter((id) => !ids.has(id)));
    for (const id of page) {
      if (!isDocumentId(id)) throw documentNotFound();
      ids.add(id);
    }
    for await (const record of records.readEach([...page], principal.id)) {
      if (!record || !canRead(principal, record)) throw documentNotFound();
      if (!isTaken(record)) throw new ConflictError(notTaken(record));
      if (record.status !== 'completed') unfinished ??= record;
    }
  }
  if (unfinished) throw new ConflictError(`Document ${unfinished.id} is ${unfinished.status}, not completed`);
  return [...ids];
}

const notTaken = ({ id, ownerId }: DocumentRecord): string =>
  `Document ${id} is shared by ${ownerId}, whose documents this cache does not take`;

const reasonOf = (errors: readonly { readonly msg: string }[]) => errors.map(({ msg }) => msg).join('; ');

async function matching(
  { index, records, sharedViews, collections, chunk }: Dependencies,
  principal: Principal,
  {
    filter: asked,
    maxTokens,
    shared,
    collection,
  }: Pick<Selected, 'maxTokens' | 'shared' | 'collection'> & { readonly filter: Filter | null },
): Promise<string[]> {
  const scope = await collections.scope(collection, principal);
  const filter = await sharedViews.filterOf({ principal, filter: bothFilters(asked, scope), shared });
  const selected: string[] = [];
  let leastTokens = 0;
  for (let after: ListPosition | null = null; ;) {
    const page: ListedPage = await index.list({ principal, filter, after, skip: 0, limit: PAGE });
    for await (const record of records.readEach(page.ids, principal.id)) {
      if (record?.status !== 'completed' || !canFind(principal, record, filter)) continue;
      selected.push(record.id);
      const { tokenCount, chunkCount, chunking } = shownContent(record);
      const { overlap } = wholeChunking(chunking, chunk);
      leastTokens += tokenCount - overlap * Math.max(0, chunkCount - 1);
    }
    if (leastTokens > maxTokens) {
      throw new ImpossibleError(
        `The selected documents take at least ${String(leastTokens)} tokens, the model reads ${String(maxTokens)}`,
      );
    }
    if (!page.next) return selected;
    after = page.next;
  }
}
