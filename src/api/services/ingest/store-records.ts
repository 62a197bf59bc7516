import { randomUUID } from 'node:crypto';
import { at } from '../../../shared/at.js';
import { slicesOf } from '../../../shared/batches.js';
import type { DocumentRecord } from '../../../shared/document.js';
import type { NewRecord } from '../../../shared/documents/change.js';
import { SameContentError } from '../../../shared/documents/content-hashes.js';
import type { Records } from '../../../shared/documents/records.js';
import { toError } from '../../../shared/errors.js';
import type { RequestContext } from '../request-context.js';
import type { Duplicates, OnDuplicate } from './duplicates.js';
import type { JobRequests } from './job-requests.js';
import type { Sources } from './sources.js';

export interface StoreRecordsParts {
  readonly records: Pick<Records, 'create' | 'createMany' | 'read'>;
  readonly sources: Pick<Sources, 'discard'>;
  readonly jobs: Pick<JobRequests, 'ingestAll'>;
  readonly duplicates: Pick<Duplicates, 'findOrWrite'>;
}

/** A new document whose bytes are kept, and whose record is to be written. */
export interface NewDocument extends NewRecord {
  readonly onDuplicate: OnDuplicate;
}

/** Returns the rules that the step which writes a record has to heed. */
export const recordRules = (
  onDuplicate: OnDuplicate,
  { reservation }: Pick<RequestContext, 'reservation'>,
) => ({
  onDuplicate,
  onlyNewContent: onDuplicate !== 'new',
  reservation,
});

/** The end of a new document whose record was to be written. */
export type Stored =
  | { readonly type: 'written' }
  /** The owner has this document of the same content. */
  | { readonly type: 'known'; readonly record: DocumentRecord }
  | { readonly type: 'failed'; readonly error: Error };

export interface Storing {
  readonly context: Pick<RequestContext, 'requestId' | 'waitSeconds'>;
  /** Called with the records that were written, before a worker can know of them, so that a wait misses no change. */
  readonly onWritten: (records: readonly DocumentRecord[]) => void;
}

/**
 * Writes the records of new documents of one caller, and adds their jobs: the way of every new document, alone or among
 * many. The bytes of those that are not written are discarded. Rejects only when a record cannot even be prepared.
 */
export async function storeRecords(
  parts: StoreRecordsParts,
  made: readonly NewDocument[],
  { context, onWritten }: Storing,
): Promise<Stored[]> {
  if (made.length === 0) return [];
  const { records, jobs } = parts;
  const documents = groupShortTexts(made);
  const errors = await records.createMany(documents);
  const ends = await Promise.all(documents.map((document, i) => endOf(parts, document, at(errors, i))));
  const written = documents.filter((_, i) => at(ends, i).type === 'written');
  onWritten(written.map(({ record }) => record));
  if (written.length > 0) await jobs.ingestAll(written, context);
  return ends;
}

/** A job of this many short texts occupies a worker for some tens of milliseconds. */
export const MAX_GROUP = 32;

/** Puts new short texts of one caller into groups. One job ingests a group; all others get jobs of their own. */
function groupShortTexts(made: readonly NewDocument[]): NewDocument[] {
  const short = made.filter(({ source }) => source !== undefined);
  const groups = new Map<NewDocument, string>();
  for (const members of slicesOf(short, MAX_GROUP)) {
    const group = randomUUID();
    if (members.length > 1) for (const each of members) groups.set(each, group);
  }
  return made.map((each) => ({ ...each, group: groups.get(each) }));
}

/** Finds out the end of a record. Never rejects. */
async function endOf(parts: StoreRecordsParts, document: NewDocument, error: Error | null): Promise<Stored> {
  if (error === null) return { type: 'written' };
  if (!(error instanceof SameContentError)) return endAfter(parts, document, error);
  const { records, sources, duplicates } = parts;
  const { record } = document;
  try {
    const known = await duplicates.findOrWrite(record, () => records.create(record, document));
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
): Promise<Stored> {
  const isWritten = await wasWritten(records, record);
  if (isWritten === true) return { type: 'written' };
  if (isWritten === false && record.pending) await sources.discard(record.pending.storageKey);
  return { type: 'failed', error };
}

/**
 * Tells whether Redis has written a record although its reply was lost; null while that is unknown. Then the bytes of its
 * source stay: the sweep removes them later if no record refers to them.
 */
async function wasWritten(
  records: Pick<Records, 'read'>,
  { id, pending: content }: DocumentRecord,
): Promise<boolean | null> {
  try {
    const found = await records.read(id);
    return [found?.pending, found?.published].some(
      (each) => each != null && each.storageKey === content?.storageKey,
    );
  } catch {
    return null;
  }
}
