import { randomUUID } from 'node:crypto';
import { at } from '../../../shared/at.js';
import type { AccessLists } from '../../../shared/access/access.js';
import { ACCESS_LISTS } from '../../../shared/access/leaving.js';
import type { Chunking } from '../../../shared/chunking.js';
import { isFinal, type Content, type DocumentRecord, type Metadata } from '../../../shared/document.js';
import { newDocument } from '../../../shared/documents/transitions.js';
import type { Records } from '../../../shared/documents/records.js';
import { DuplicateDeletedError } from '../../../shared/errors.js';
import type { OcrMode } from '../../../readers/index.js';
import type { AccountedRequest, Accounting } from '../usage-accounting.js';
import type { Collections } from '../collections/collections.js';
import type { RequestContext } from '../request-context.js';
import { refuseOrReturn, type Duplicates, type OnDuplicate } from './duplicates.js';
import type { ReceiveFile } from './incoming.js';
import type { KnownSources } from './known-sources.js';
import type { SourceOwner, Sources } from './sources.js';
import {
  recordRules,
  createStoreTogether,
  type NewDocument,
  type StoreRecordsParts,
  type StoreTogether,
} from './store-records.js';
import { beginToWait, type AwaitedDocument, type IsDone, type WaitForDocument } from './waits.js';

/** The details that a caller states about a document in addition to its content. */
export interface DocumentDetails extends Reading {
  /** Undefined where the caller states none: a new document has none then, and the document of a known source keeps its own. */
  readonly metadata: Metadata | undefined;
  readonly accessControl: Partial<AccessLists>;
  readonly onDuplicate: OnDuplicate;
  /** The name of the source, by which its document is found and replaced. */
  readonly sourceId?: string | undefined;
  /** The collection that it is put into; undefined for none. */
  readonly collection: string | undefined;
}

export interface TextIngest extends DocumentDetails {
  readonly content: string;
  /** Null where the caller states none. */
  readonly filename: string | null;
}

export interface Ingest {
  /**
   * The wait ends when the document is final. Its result is null when the document was deleted, and it rejects with
   * DuplicateDeletedError when that was there before.
   */
  ingestText(text: TextIngest, context: RequestContext): Promise<AwaitedDocument>;
  ingestFile(receive: ReceiveFile<DocumentDetails>, context: RequestContext): Promise<AwaitedDocument>;
}

export interface IngestParts extends StoreRecordsParts {
  readonly records: Records;
  readonly sources: Sources;
  readonly waitForDocument: WaitForDocument;
  readonly accounting: Accounting;
  readonly duplicates: Duplicates;
  readonly knownSources: Pick<KnownSources, 'find'>;
  readonly collections: Pick<Collections, 'into'>;
  /** Refuses a file before it is received, if its owner can have no more. @throws OverQuotaError */
  readonly requireQuota: (ownerId: string) => Promise<void>;
}

export function createIngest(parts: IngestParts): Ingest {
  const { sources, accounting } = parts;
  const store = createStoreTogether(parts);
  return {
    ingestText: async (text, context) => {
      const { onDuplicate } = text;
      const known = onDuplicate === 'new' ? null : await findDuplicate(parts, text, context);
      if (known) return answerDuplicate(parts, known, { onDuplicate, context });
      const document = await keepText(parts, text, { documentId: documentIdOf(context), context });
      return accept({ ...parts, store }, document, context);
    },
    ingestFile: async (receive, context) => {
      await parts.requireQuota(context.callerId);
      const documentId = documentIdOf(context);
      const checked = receivePermitted(parts, receive, context);
      const storeFile = () =>
        sources.storeFile({ documentId, version: 1, ownerId: context.callerId }, checked);
      const { content, details } = await accounting.begin(begunOperation('ingest_file', context), storeFile);
      return accept({ ...parts, store }, newDocumentOf(content, details, { documentId, context }), context);
    },
  };
}

/** A document that is to be replaced, because it is of the same source, has no duplicate. */
async function findDuplicate(
  { duplicates, knownSources }: Pick<IngestParts, 'duplicates' | 'knownSources'>,
  { content, sourceId }: TextIngest,
  { callerId }: RequestContext,
): Promise<DocumentRecord | null> {
  const isKnown = sourceId !== undefined && (await knownSources.find(callerId, sourceId)) !== null;
  return isKnown ? null : duplicates.findText(callerId, content);
}

/** Refuses a file for a collection that the caller may not write, so that its bytes are discarded. */
const receivePermitted =
  (
    { collections }: Pick<IngestParts, 'collections'>,
    receive: ReceiveFile<DocumentDetails>,
    { principal }: RequestContext,
  ): ReceiveFile<DocumentDetails> =>
  async (target) => {
    const received = await receive(target);
    await collections.into(received.details.collection, principal);
    return received;
  };

/** A request with an `Idempotency-Key` has the id of its document before it begins. */
const documentIdOf = ({ reservation }: RequestContext): string => reservation?.id ?? randomUUID();

/** Stores a new document, and begins to wait for it. @throws DuplicateError */
async function accept(
  { store, waitForDocument }: Pick<IngestParts, 'waitForDocument'> & { readonly store: StoreTogether },
  document: NewDocument,
  context: RequestContext,
): Promise<AwaitedDocument> {
  const { callerId, waitSeconds, expiresAtMs, signal, arrival } = context;
  const waiting = { callerId, waitSeconds, expiresAtMs, signal };
  const options = { ...waiting, isDone: isFinal, isNew: true };
  const begun: AwaitedDocument[] = [];
  arrival?.becomes(document.record.id);
  const onWritten = (records: readonly DocumentRecord[]) => {
    begun.push(...records.map((record) => beginToWait(waitForDocument, record, options)));
  };
  const stored = await store({ document, context, onWritten });
  switch (stored.type) {
    case 'written':
      return at(begun, 0);
    case 'replaced':
      return beginToWait(waitForDocument, stored.record, { ...waiting, isDone: isSettled });
    case 'known':
      return answerDuplicate({ waitForDocument }, stored.record, { ...document, context });
    case 'failed':
      throw stored.error;
  }
}

/** Searches find the content, and what was changed beside it. */
const isSettled: IsDone = (state) => isFinal(state) && state.retag === 0;

interface Answering {
  readonly onDuplicate: OnDuplicate;
  readonly context: RequestContext;
}

/**
 * Answers with a document that has the content already. The wait rejects when that is deleted meanwhile, since nothing was
 * made of the content.
 * @throws DuplicateError
 */
function answerDuplicate(
  { waitForDocument }: Pick<IngestParts, 'waitForDocument'>,
  known: DocumentRecord,
  { onDuplicate, context }: Answering,
): AwaitedDocument {
  refuseOrReturn(known, onDuplicate);
  const { callerId, waitSeconds, expiresAtMs, signal } = context;
  const options = { callerId, waitSeconds, expiresAtMs, signal, isDone: isFinal };
  const awaited = beginToWait(waitForDocument, known, options);
  return { ...awaited, settled: awaited.settled.then(requireKnown) };
}

function requireKnown(record: DocumentRecord | null): DocumentRecord {
  if (!record) throw new DuplicateDeletedError();
  return record;
}

/** The request of a new document. */
interface Asked {
  readonly documentId: string;
  readonly context: RequestContext;
}

/** Keeps a text, and returns the new document that it is to be. @throws NotFoundError, ForbiddenError for its collection */
export async function keepText(
  { sources, accounting, collections }: Pick<IngestParts, 'sources' | 'accounting' | 'collections'>,
  { content: text, filename, ...details }: TextIngest,
  { documentId, context, items }: Asked & Pick<SourceOwner, 'items'>,
): Promise<NewDocument> {
  await collections.into(details.collection, context.principal);
  const operation = begunOperation('ingest_text', context, filename === null ? {} : { filename });
  const owner = { documentId, version: 1, ownerId: context.callerId, ...(items && { items }) };
  const { content, source } = await accounting.begin(operation, () => sources.storeText(owner, text));
  const document = newDocumentOf({ ...content, filename }, details, { documentId, context });
  return source ? { ...document, source } : document;
}

/** Returns the new document that kept bytes are to be. */
export function newDocumentOf(
  content: Content,
  { onDuplicate, ocr, chunking, metadata, sourceId, collection, accessControl }: DocumentDetails,
  { documentId, context }: Asked,
): NewDocument {
  const { callerId, startedAtMs } = context;
  const collections = collection === undefined ? undefined : [collection];
  const owner = { documentId, ownerId: callerId, callerId, startedAtMs };
  const of = { metadata: metadata ?? {}, sourceId, collections, accessControl, ...owner };
  const stated = {
    metadata,
    ocr,
    chunking,
    lists: ACCESS_LISTS.filter((name) => accessControl[name] !== undefined),
  };
  return {
    record: newDocument(withReading(content, { ocr, chunking }), of),
    ...recordRules(onDuplicate, context),
    ...(sourceId !== undefined && { stated }),
  };
}

/** The way in which a content is read and cut. The settings hold for what is undefined. */
export interface Reading {
  /** The pages of a file that are read by text recognition. */
  readonly ocr: OcrMode | undefined;
  readonly chunking?: Chunking | undefined;
}

/** Notes in a content how it is to be read, so that every attempt reads it the same way. */
export function withReading(content: Content, { ocr, chunking }: Reading): Content {
  return {
    ...content,
    ...(content.kind === 'file' && ocr !== undefined && { ocr }),
    ...(chunking && { chunking }),
  };
}

/** Describes an ingest whose bytes are not stored yet, for its usage event. */
export function begunOperation(
  operation: 'ingest_text' | 'ingest_file',
  { callerId, startedAtMs }: RequestContext,
  metadata: Metadata = {},
): AccountedRequest {
  return { operation, userId: callerId, startedAtMs, metadata };
}
