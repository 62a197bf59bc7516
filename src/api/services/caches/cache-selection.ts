import { canRead } from '../../../shared/access/access.js';
import { shownContent, type DocumentRecord } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import { ConflictError, ImpossibleError } from '../../../shared/errors.js';
import { matches } from '../../../shared/filters/match.js';
import { parseFilter, type Filter } from '../../../shared/filters/parse.js';
import type { Index } from '../../../shared/ports.js';
import { documentNotFound, isDocumentId } from '../documents/document-access.js';

export interface Selected {
  readonly docs?: readonly string[] | undefined;
  /** Readable documents that match; null is all of them, undefined none. */
  readonly filter?: Filter | null | undefined;
}

export type CacheSelection = ReturnType<typeof createCacheSelection>;

const PAGE = 200;

/** Which documents go into a named cache. */
export function createCacheSelection(parts: {
  readonly index: Index;
  readonly records: Records;
  /** Tokens that a cache can hold: a selection that cannot fit is not read to its end. */
  readonly contextWindow: number;
  /** Most tokens that a chunk repeats of the one before. */
  readonly overlap: number;
}) {
  const { records } = parts;

  const listed = async (callerId: string, docs: readonly string[]): Promise<string[]> => {
    const ids = new Set<string>();
    let unfinished: DocumentRecord | null = null;
    // All in pages: there may be 100,000, of which everything that is done to all of them at once takes long.
    for (let first = 0; first < docs.length; first += PAGE) {
      const page = new Set(docs.slice(first, first + PAGE).filter((id) => !ids.has(id)));
      for (const id of page) {
        if (!isDocumentId(id)) throw documentNotFound();
        ids.add(id);
      }
      for (const record of await records.readMany([...page])) {
        if (!record || !canRead(callerId, record)) throw documentNotFound();
        if (record.status !== 'completed') unfinished ??= record;
      }
    }
    if (unfinished)
      throw new ConflictError(`Document ${unfinished.id} is ${unfinished.status}, not completed`);
    return [...ids];
  };

  return {
    /** @throws NotFoundError for an unknown or unreadable id, ConflictError for a listed document that is not completed */
    select: async (callerId: string, { docs, filter }: Selected): Promise<string[]> => {
      const named = docs ? await listed(callerId, docs) : [];
      const found = filter === undefined ? [] : await matching(parts, callerId, filter);
      return [...new Set([...named, ...found])];
    },

    /** Documents that match a cache's stored filters; none without any. */
    matching: async (callerId: string, filters: unknown): Promise<string[]> => {
      if (filters === null) return [];
      const parsed = parseFilter(filters);
      // They were stored when filters could be larger.
      if ('errors' in parsed)
        throw new ImpossibleError(`The filters of this cache are refused today: ${reasonOf(parsed.errors)}`);
      return matching(parts, callerId, parsed.filter);
    },
  };
}

const reasonOf = (errors: readonly { readonly msg: string }[]) => errors.map(({ msg }) => msg).join('; ');

async function matching(
  { index, records, contextWindow, overlap }: Parameters<typeof createCacheSelection>[0],
  callerId: string,
  filter: Filter | null,
): Promise<string[]> {
  const selected: string[] = [];
  let leastTokens = 0;
  for (let skip = 0; ; skip += PAGE) {
    const ids = await index.list({ callerId, filter, skip, limit: PAGE });
    for (const record of await records.readMany(ids)) {
      if (record?.status !== 'completed' || !matches(record, callerId, filter)) continue;
      selected.push(record.id);
      const { tokenCount, chunkCount } = shownContent(record);
      leastTokens += tokenCount - overlap * Math.max(0, chunkCount - 1);
    }
    if (leastTokens > contextWindow) {
      throw new ImpossibleError(
        `The selected documents take at least ${String(leastTokens)} tokens, the model reads ${String(contextWindow)}`,
      );
    }
    if (ids.length < PAGE) return selected;
  }
}
