import { isSameChunking, type Chunking } from '../../../shared/chunking.js';
import {
  isFinal,
  fulfils,
  newestContent,
  type Content,
  type DocumentRecord,
} from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import { replaceContent, newOperation } from '../../../shared/documents/transitions.js';
import type { ShortSource } from '../../../shared/storage/sources.js';
import { ownedWith } from '../../../shared/documents/counts.js';
import { AppError, ChangedError } from '../../../shared/errors.js';
import type { Accounting } from '../usage-accounting.js';
import type { ChangeDocument } from '../documents/commit-change.js';
import { readDocument } from '../documents/document-access.js';
import type { RequestContext } from '../request-context.js';
import type { ReceiveFile } from './incoming.js';
import { begunOperation, withReading, type Reading } from './ingest.js';
import type { JobRequests } from './job-requests.js';
import type { SourceOwner, Sources } from './sources.js';
import { beginToWait, type AwaitedDocument, type WaitForDocument } from './waits.js';

export interface TextUpdate {
  readonly content: string;
  /** Undefined when it is cut as the content before. */
  readonly chunking: Chunking | undefined;
  /** Undefined when the text keeps its name. */
  readonly filename: string | undefined;
}

/** The way in which a file is read; what is undefined is as for the content before. */
export type FileUpdate = Reading;

/** `changed` is false when the document already has this content. The record is null when it was deleted in the meantime. */
export interface ContentUpdate extends AwaitedDocument {
  readonly changed: boolean;
}

export interface ContentUpdates {
  putText(documentId: string, update: TextUpdate, context: RequestContext): Promise<ContentUpdate>;
  putFile(
    documentId: string,
    receive: ReceiveFile<FileUpdate>,
    context: RequestContext,
  ): Promise<ContentUpdate>;
}

interface Dependencies {
  readonly records: Records;
  readonly sources: Sources;
  readonly change: ChangeDocument;
  readonly jobs: JobRequests;
  readonly waitForDocument: WaitForDocument;
  readonly accounting: Accounting;
}

export function createContentUpdates(parts: Dependencies): ContentUpdates {
  const { records, sources, accounting } = parts;
  return {
    putText: async (documentId, { content: text, filename, chunking }, context) => {
      const version = await openVersion(records, documentId, context);
      const operation = begunOperation('ingest_text', context, { document_id: documentId });
      const stored = await accounting.begin(operation, () => sources.storeText(version, text));
      const name = (record: DocumentRecord) => filename ?? textName(record);
      const stated = { ocr: undefined, chunking };
      return put(parts, { documentId, name, ...stored, stated, lost: null }, context);
    },
    putFile: async (documentId, receive, context) => {
      const version = await openVersion(records, documentId, context);
      const operation = begunOperation('ingest_file', context, { document_id: documentId });
      const { content, details } = await accounting.begin(operation, () =>
        sources.storeFile(version, receive),
      );
      const name = () => content.filename;
      return put(parts, { documentId, name, content, stated: details, lost: null }, context);
    },
  };
}

/** Checks the right and the state before the body is read, so that no upload is in vain. The change itself checks again. */
async function openVersion(
  records: Records,
  documentId: string,
  { principal, precondition, signal }: RequestContext,
): Promise<SourceOwner> {
  const record = await readDocument(records, { documentId, principal, signal }, 'write');
  if (precondition && !fulfils(record, precondition)) throw new ChangedError();
  const { ownerId, version } = record;
  return { documentId, version: version + 1, ownerId, counted: ownedWith(record).bytes };
}

interface Replacement {
  readonly documentId: string;
  readonly name: (record: DocumentRecord) => string | null;
  readonly content: Content;
  readonly stated: Reading;
  /** The bytes of the content if it is short. */
  readonly source?: ShortSource;
  /** Key of a source that the storage has lost; the same content then counts as new. */
  readonly lost: string | null;
}

async function put(
  parts: Dependencies,
  replacement: Replacement,
  context: RequestContext,
): Promise<ContentUpdate> {
  const { sources, jobs, waitForDocument } = parts;
  context.arrival?.becomes(replacement.documentId);
  let { record, changed } = await replace(parts, replacement, context);
  const lost = changed || !record ? null : await findLost(sources, record);
  // The document already has this content, but the storage has lost it, so it is stored as new content.
  if (lost !== null) ({ record, changed } = await replace(parts, { ...replacement, lost }, context));
  if (!changed) await sources.discard(replacement.content.storageKey);
  else if (record) await Promise.all([jobs.ingest(record, context), jobs.attachments(record, context)]);
  const { callerId, waitSeconds, expiresAtMs, signal } = context;
  return {
    ...beginToWait(waitForDocument, record, { isDone: isFinal, callerId, waitSeconds, expiresAtMs, signal }),
    changed,
  };
}

async function replace(
  { records, sources, change }: Dependencies,
  { documentId, name, content, stated, source, lost }: Replacement,
  { callerId, principal, startedAtMs, precondition }: RequestContext,
) {
  try {
    return await change({ documentId, principal, right: 'write', precondition }, (record) => {
      const named = { ...readAsBefore(record, content, stated), filename: name(record) };
      if (hasContent(record, named) && newestContent(record)?.storageKey !== lost) return null;
      const operation = newOperation(named, { documentId, userId: callerId, startedAtMs });
      return { ...replaceContent(record, { content: named, operation }), ...(source && { source }) };
    });
  } catch (error) {
    return writtenAfterAll({ records, sources }, { documentId, storageKey: content.storageKey }, error);
  }
}

/**
 * After an error, Redis may have written new content although its reply was lost, and it may be published or replaced by now.
 * So the bytes stay unless the change was refused. The sweep removes them later if no record refers to them.
 * @throws the error, where the content was not written
 */
export async function writtenAfterAll(
  {
    records,
    sources,
  }: { readonly records: Pick<Records, 'read'>; readonly sources: Pick<Sources, 'discard'> },
  { documentId, storageKey }: { readonly documentId: string; readonly storageKey: string },
  error: unknown,
): Promise<{ readonly record: DocumentRecord | null; readonly changed: true }> {
  if (error instanceof AppError) await sources.discard(storageKey);
  const record = error instanceof AppError ? null : await records.read(documentId).catch(() => null);
  const isWritten = [record?.pending, record?.published].some((each) => each?.storageKey === storageKey);
  if (isWritten) return { record, changed: true };
  throw error;
}

/** Returns the key of the newest content if the storage has lost it, so that the same content counts as new. */
export async function findLost(sources: Sources, record: DocumentRecord): Promise<string | null> {
  const newest = newestContent(record);
  return newest && (await sources.isLost(newest.storageKey)) ? newest.storageKey : null;
}

export function textName(record: DocumentRecord): string | null {
  const newest = newestContent(record);
  return newest?.kind === 'text' ? newest.filename : null;
}

/** Notes in a content how it is to be read: as the content before, unless something else is stated. */
export function readAsBefore(record: DocumentRecord, content: Content, { ocr, chunking }: Reading): Content {
  const newest = newestContent(record);
  return withReading(content, { ocr: ocr ?? newest?.ocr, chunking: chunking ?? newest?.chunking });
}

const hasContent = (record: DocumentRecord, content: Content): boolean =>
  hasBytes(record, content) && newestContent(record)?.filename === content.filename;

/** Tells whether the newest content of a document is this one, whatever its name, and would be read as it was. */
export function hasBytes(record: DocumentRecord, content: Content): boolean {
  const newest = newestContent(record);
  return (
    newest?.kind === content.kind &&
    newest.sha256 === content.sha256 &&
    newest.contentType === content.contentType &&
    newest.ocr === content.ocr &&
    isSameChunking(newest.chunking, content.chunking)
  );
}
