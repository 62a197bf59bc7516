import { at } from '../../../../shared/at.js';
import type { DocumentRecord } from '../../../../shared/document.js';
import { SameContentError } from '../../../../shared/documents/content-hashes.js';
import { toError } from '../../../../shared/errors.js';
import type { RequestContext } from '../../request-context.js';
import type { IngestParts } from '../ingest.js';
import { groupShortTexts, wasWritten } from '../store-together.js';
import { answerKnown } from './known-contents.js';
import type { DocumentsWait } from './documents-wait.js';
import type { NewDocument, StoredItem } from './items.js';

export interface StoreRecordsParts extends Pick<IngestParts, 'records' | 'sources' | 'jobs' | 'duplicates'> {
  readonly wait: DocumentsWait;
}

/** Writes the records of new documents, begins to wait for them, and adds their jobs. Never rejects. */
export async function storeRecords(
  parts: StoreRecordsParts,
  made: readonly NewDocument[],
  context: RequestContext,
): Promise<StoredItem[]> {
  if (made.length === 0) return [];
  const { records, jobs, wait } = parts;
  const documents = groupShortTexts(made);
  const errors = await records.createMany(documents);
  const ends = await Promise.all(documents.map((document, i) => endOf(parts, document, at(errors, i))));
  const written = documents.filter((_, i) => at(ends, i).type === 'written');
  // The wait begins before a worker can know of the documents, so that it misses no change.
  wait.add(written.map(({ record }) => record.id));
  if (written.length > 0) await jobs.ingestAll(written, context);
  return documents.map((document, i) => {
    const { index, record } = document;
    const end = at(ends, i);
    switch (end.type) {
      case 'written':
        return { index, documentId: record.id, status: record.status };
      case 'known':
        return answerKnown(wait, document, end.record);
      case 'failed':
        return { index, error: end.error };
    }
  });
}

type End =
  | { readonly type: 'written' }
  /** The owner has this document of the same content. */
  | { readonly type: 'known'; readonly record: DocumentRecord }
  | { readonly type: 'failed'; readonly error: Error };

/** Finds out the end of a record. Never rejects. */
async function endOf(parts: StoreRecordsParts, document: NewDocument, error: Error | null): Promise<End> {
  if (error === null) return { type: 'written' };
  if (!(error instanceof SameContentError)) return endAfter(parts, document, error);
  const { records, sources, duplicates } = parts;
  const { record } = document;
  try {
    const known = await duplicates.writeUnlessKnown(record, () => records.create(record, document));
    if (!known) return { type: 'written' };
    if (record.pending) await sources.discard(record.pending.storageKey);
    return { type: 'known', record: known };
  } catch (thrown) {
    return endAfter(parts, document, toError(thrown));
  }
}

/** After an error, Redis may have written the record although its reply was lost. */
async function endAfter(
  { records, sources }: StoreRecordsParts,
  { record }: NewDocument,
  error: Error,
): Promise<End> {
  const isWritten = await wasWritten(records, record);
  if (isWritten === true) return { type: 'written' };
  if (isWritten === false && record.pending) await sources.discard(record.pending.storageKey);
  return { type: 'failed', error };
}
