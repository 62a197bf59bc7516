import { at } from '../../../../shared/at.js';
import type { RequestContext } from '../../request-context.js';
import type { IngestParts } from '../ingest.js';
import type { DocumentsWait } from './documents-wait.js';
import type { NewDocument, StoredItem } from './outcomes.js';

interface StoreRecordsParts extends Pick<IngestParts, 'records' | 'sources' | 'jobs'> {
  readonly wait: DocumentsWait;
}

/** Writes the records of new documents, begins to wait for them, and adds their jobs. Never rejects. */
export async function storeRecords(
  parts: StoreRecordsParts,
  documents: readonly NewDocument[],
  context: RequestContext,
): Promise<StoredItem[]> {
  const { records, jobs, wait } = parts;
  const errors = await records.createMany(documents);
  const failures = await Promise.all(
    documents.map((document, i) => failureOf(parts, document, at(errors, i))),
  );
  const written = documents.filter((_, i) => failures[i] === null).map(({ record }) => record);
  // The wait begins before a worker can know of the documents, so that it misses no change.
  wait.add(written.map(({ id }) => id));
  if (written.length > 0) await jobs.ingestAll(written, context);
  return documents.map(({ index, record }, i): StoredItem => {
    const error = at(failures, i);
    return error === null ? { index, documentId: record.id, status: record.status } : { index, error };
  });
}

/** Null when Redis has written the record although its reply was lost. */
async function failureOf(
  { records, sources }: StoreRecordsParts,
  { record }: NewDocument,
  error: Error | null,
): Promise<Error | null> {
  if (error === null) return null;
  const isWritten = await records.read(record.id).then(
    (found) => found !== null,
    () => null,
  );
  if (isWritten === true) return null;
  // While it is unknown, the bytes stay. The sweep removes them later if no record refers to them.
  if (isWritten === false && record.pending) await sources.discard(record.pending.storageKey);
  return error;
}
