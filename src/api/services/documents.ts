import type { StoredChunk } from '../../shared/chunk-fields.js';
import type { Chunks } from '../../shared/chunks.js';
import type { DocumentRecord } from '../../shared/document.js';
import { matches } from '../../shared/filter-match.js';
import type { Filter } from '../../shared/filters.js';
import type { Index } from '../../shared/ports.js';
import type { Records } from '../../shared/records.js';
import { readDocument, type DocumentRequest } from './document-access.js';

export interface Page {
  readonly skip: number;
  readonly limit: number;
}

export interface DocumentListing extends Page {
  readonly callerId: string;
  readonly filter: Filter | null;
  readonly signal: AbortSignal;
}

export interface Documents {
  /** Documents that the caller may read and that match, newest first, ties by id. @throws UnavailableError */
  list(listing: DocumentListing): Promise<DocumentRecord[]>;
  /** @throws AppError 403, 404; so does `chunks` */
  get(request: DocumentRequest): Promise<DocumentRecord>;
  /** Chunks of the published version; none while none is published. */
  chunks(request: DocumentRequest, page: Page): Promise<StoredChunk[]>;
}

/** Records are read and checked this many at a time, so that a page of large ones never blocks the event loop. */
const CHECK_SIZE = 20;

export function createDocuments({
  records,
  chunks,
  index,
}: {
  readonly records: Records;
  readonly chunks: Pick<Chunks, 'readTexts'>;
  readonly index: Pick<Index, 'list'>;
}): Documents {
  const check = async (ids: readonly string[], { callerId, filter }: DocumentListing) => {
    const found: DocumentRecord[] = [];
    for (let start = 0; start < ids.length; start += CHECK_SIZE) {
      const page = await records.readMany(ids.slice(start, start + CHECK_SIZE));
      for (const record of page) if (record && matches(record, callerId, filter)) found.push(record);
    }
    return found;
  };

  return {
    list: async (listing) => {
      const found: DocumentRecord[] = [];
      // What the index names and the record denies leaves a gap that is filled from further down.
      for (let skip = listing.skip; found.length < listing.limit;) {
        const limit = listing.limit - found.length;
        const ids = await index.list({ ...listing, skip, limit });
        found.push(...(await check(ids, listing)));
        skip += ids.length;
        if (ids.length < limit) break;
      }
      return found;
    },
    get: (request) => readDocument(records, request, 'read'),
    chunks: async (request, { skip, limit }) => {
      for (;;) {
        const content = (await readDocument(records, request, 'read')).published;
        if (!content?.generation) return [];
        const count = Math.max(0, Math.min(limit, content.chunkCount - skip));
        const texts = await chunks.readTexts(content.generation, skip, count);
        // Read last, so that neither a revocation nor a new version falls between the check and the answer.
        const now = await readDocument(records, request, 'read');
        if (now.published?.generation === content.generation) return texts;
      }
    },
  };
}
