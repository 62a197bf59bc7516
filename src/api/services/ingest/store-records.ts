import { randomUUID } from 'node:crypto';
import { at } from '../../../shared/at.js';
import { slicesOf } from '../../../shared/batches.js';
import type { OcrMode } from '../../../readers/index.js';
import type { AccessLists } from '../../../shared/access/access.js';
import type { Chunking } from '../../../shared/chunking.js';
import type { DocumentRecord, Metadata } from '../../../shared/document.js';
import type { NewRecord } from '../../../shared/documents/change.js';
import { SameContentError } from '../../../shared/documents/content-hashes.js';
import { KnownSourceError } from '../../../shared/documents/source-ids.js';
import type { Records } from '../../../shared/documents/records.js';
import { toError } from '../../../shared/errors.js';
import { tracePlace, withinTraces, type TracePlace } from '../../../shared/tracing/tracing.js';
import type { RequestContext } from '../request-context.js';
import type { Duplicates, OnDuplicate } from './duplicates.js';
import type { JobRequests } from './job-requests.js';
import type { Sources } from './sources.js';

export interface StoreRecordsParts {
  readonly records: Pick<Records, 'create' | 'createMany' | 'read'>;
  readonly sources: Pick<Sources, 'discard'>;
  readonly jobs: Pick<JobRequests, 'ingestAll'>;
  readonly duplicates: Pick<Duplicates, 'findOrWrite'>;
  readonly replaceSource: ReplaceSource;
}

/** The details that the caller stated of a document; the others stay as they are where it is there already. */
export interface StatedDetails {
  readonly metadata: Metadata | undefined;
  readonly ocr: OcrMode | undefined;
  readonly chunking: Chunking | undefined;
  readonly lists: readonly (keyof AccessLists)[];
}

/**
 * Puts the content and the details of a document that was to be new into the owner's document of the same source. Content that
 * is the same as before stays, and so does its version, unless its ingest failed or was cancelled.
 * @returns the document; null where it was deleted meanwhile, and the new one was written
 * @throws ForbiddenError where the owner has given up the right; errors of the step that writes a new document
 */
export type ReplaceSource = (
  document: NewDocument,
  context: StoringContext,
) => Promise<DocumentRecord | null>;

/** A new document whose bytes are kept, and whose record is to be written. */
export interface NewDocument extends NewRecord {
  readonly onDuplicate: OnDuplicate;
  /** Only for a document that may be there already, by the name of its source. */
  readonly stated?: StatedDetails;
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
  /** The owner had this document of the same source, and it has the new content, or had it. */
  | { readonly type: 'replaced'; readonly record: DocumentRecord }
  /** The owner has this document of the same content. */
  | { readonly type: 'known'; readonly record: DocumentRecord }
  | { readonly type: 'failed'; readonly error: Error };

export type StoringContext = Pick<
  RequestContext,
  'callerId' | 'principal' | 'requestId' | 'startedAtMs' | 'waitSeconds'
>;

export interface Storing {
  readonly context: StoringContext;
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
  const ends = await Promise.all(
    documents.map((document, i) => endOf(parts, document, { error: at(errors, i), context })),
  );
  const written = documents.filter((_, i) => at(ends, i).type === 'written');
  onWritten(written.map(({ record }) => record));
  if (written.length > 0) await jobs.ingestAll(written, context);
  return ends;
}

/** A job of this many short texts occupies a worker for some tens of milliseconds. */
const MAX_GROUP = 32;

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
async function endOf(
  parts: StoreRecordsParts,
  document: NewDocument,
  { error, context }: { readonly error: Error | null; readonly context: StoringContext },
): Promise<Stored> {
  if (error === null) return { type: 'written' };
  try {
    if (error instanceof KnownSourceError) return await endWithSource(parts, document, context);
    if (error instanceof SameContentError) return await endWithContent(parts, document);
    return await endAfter(parts, document, error);
  } catch (thrown) {
    const next = toError(thrown);
    const isKnown = next instanceof KnownSourceError || next instanceof SameContentError;
    return isKnown ? endOf(parts, document, { error: next, context }) : endAfter(parts, document, next);
  }
}

/** The owner has a document of the same source. */
async function endWithSource(
  { replaceSource, sources }: StoreRecordsParts,
  document: NewDocument,
  context: StoringContext,
): Promise<Stored> {
  const record = await replaceSource(document, context);
  if (!record) return { type: 'written' };
  await discardBytes(sources, document);
  return { type: 'replaced', record };
}

/** The owner has a document of the same content. */
async function endWithContent(
  { records, sources, duplicates }: StoreRecordsParts,
  document: NewDocument,
): Promise<Stored> {
  const { record } = document;
  const known = await duplicates.findOrWrite(record, () => records.create(record, document));
  if (!known) return { type: 'written' };
  await discardBytes(sources, document);
  return { type: 'known', record: known };
}

async function discardBytes(
  sources: StoreRecordsParts['sources'],
  { record: { pending } }: NewDocument,
): Promise<void> {
  if (pending) await sources.discard(pending.storageKey);
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

/** A document of a request of its own. */
interface SingleDocument extends Storing {
  readonly document: NewDocument;
}

/** See `storeRecords`. */
export type StoreTogether = (single: SingleDocument) => Promise<Stored>;

interface Waiting extends SingleDocument {
  readonly trace: TracePlace | null;
  readonly resolve: (stored: Stored) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Stores new documents of single requests. Short texts of one caller that arrive together are stored in one step and with
 * one job, as databases commit in groups: while one step is under way, the texts that follow gather for the next. Nothing
 * waits when none is under way.
 */
export function createStoreTogether(parts: StoreRecordsParts): StoreTogether {
  const gathering: Gathering = new Map();
  return async (single) => {
    if (!mayShare(single.document)) return at(await storeRecords(parts, [single.document], single), 0);
    return new Promise((resolve, reject) => {
      const key = keyOf(single.context);
      const waiting = gathering.get(key);
      const each = { ...single, trace: tracePlace(), resolve, reject };
      if (waiting) waiting.push(each);
      else {
        gathering.set(key, [each]);
        void storeAll(parts, gathering, key);
      }
    });
  };
}

/** Tells whether a document is a short text to whose record nothing else is bound. All others have a step of their own. */
const mayShare = ({ source, onlyNewContent, reservation, stated }: NewDocument): boolean =>
  source !== undefined && onlyNewContent !== true && reservation === undefined && stated === undefined;

/** Texts that gather for the next step, by the key of texts that may share one. There is an entry while a step is under way. */
type Gathering = Map<string, Waiting[]>;

/** Callers who wait for their documents go before all others, so that the two never share a job. */
const keyOf = ({ callerId, waitSeconds }: StoringContext): string =>
  `${waitSeconds === 0 ? 'patient' : 'waiting'}:${callerId}`;

/** Stores the texts of a key, group by group, until none is left. Never rejects. */
async function storeAll(parts: StoreRecordsParts, gathering: Gathering, key: string): Promise<void> {
  for (let waiting = gathering.get(key); waiting && waiting.length > 0; waiting = gathering.get(key)) {
    const texts = waiting.splice(0, MAX_GROUP);
    try {
      const traces = texts.map(({ trace }) => trace);
      await withinTraces(traces, () => storeGroup(parts, texts));
    } catch (error) {
      // Each of them hears of it, and the texts that follow are stored. Rejecting a settled promise does nothing.
      for (const { reject } of texts) reject(error);
    }
  }
  gathering.delete(key);
}

async function storeGroup(parts: StoreRecordsParts, texts: readonly Waiting[]): Promise<void> {
  const byId = new Map(texts.map((each) => [each.document.record.id, each]));
  const stored = await storeRecords(
    parts,
    texts.map(({ document }) => document),
    {
      context: at(texts, 0).context,
      onWritten: (records) => {
        for (const record of records) byId.get(record.id)?.onWritten([record]);
      },
    },
  );
  for (const [i, { resolve }] of texts.entries()) resolve(at(stored, i));
}
