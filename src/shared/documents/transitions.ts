import { randomUUID } from 'node:crypto';
import { isReader, type AccessLists } from '../access/access.js';
import { hasLeft, withCaller, withoutCaller, withoutLeft } from '../access/leaving.js';
import {
  callerOf,
  generationId,
  isFinal,
  knownGaps,
  laterRevision,
  type Content,
  type DocumentRecord,
  type Extraction,
  type Failure,
  type IngestOperation,
  type Metadata,
} from '../document.js';
import { ingestUsageEvent, type UsageEvent } from '../usage/usage.js';
import { replaceAttachments, takeBackAttachments } from './attachments/attachment-changes.js';
import type { Change } from './change.js';

/** Names one run at ingesting one version. A run whose fence does not fit the record any more is stale. */
export interface Fence {
  readonly documentId: string;
  readonly version: number;
  readonly attempt: number;
  /**
   * The generation, known to a run that has read its record. It is compared because a Redis that comes back with
   * older data gives version and attempt again to other content.
   */
  readonly generation?: string;
}

/** Attempts whose generations are kept: the newest, and the ones from which it may take vectors. */
const ATTEMPTS_KEPT = 4;

const now = () => new Date().toISOString();

interface NewDocument {
  readonly documentId: string;
  readonly ownerId: string;
  /** The caller who asked for it. */
  readonly callerId: string;
  readonly metadata: Metadata;
  /** The collections that it is put into; absent for most. */
  readonly collections?: string[] | undefined;
  /** The owner is added to each list. */
  readonly accessControl: Partial<AccessLists>;
  readonly sourceId?: string | undefined;
  readonly startedAtMs: number;
}

/** The record of a document that waits to be ingested for the first time. */
export function newDocument(
  content: Content,
  { documentId, ownerId, callerId, metadata, collections, accessControl, sourceId, startedAtMs }: NewDocument,
): DocumentRecord {
  const withOwner = (ids: readonly string[] = []) => [...new Set([ownerId, ...ids])];
  const { readers, writers, admins } = accessControl;
  return {
    id: documentId,
    ownerId,
    createdAt: content.createdAt,
    updatedAt: content.createdAt,
    readers: withOwner(readers),
    writers: withOwner(writers),
    admins: withOwner(admins),
    metadata,
    ...(sourceId !== undefined && { sourceId }),
    ...(collections && { collections }),
    version: 1,
    attempt: 1,
    status: 'queued',
    stage: 'queued',
    progress: 0,
    error: null,
    published: null,
    pending: content,
    operation: newOperation(content, { documentId, userId: callerId, startedAtMs }),
    prepared: null,
    retag: 0,
    revision: 1,
  };
}

/** Makes the operation that the usage record of an ingest will contain. */
export function newOperation(
  { kind, filename }: Content,
  { documentId, userId, startedAtMs }: { documentId: string; userId: string; startedAtMs: number },
): IngestOperation {
  return {
    id: randomUUID(),
    type: kind === 'text' ? 'ingest_text' : 'ingest_file',
    userId,
    startedAtMs,
    metadata: { document_id: documentId, ...(filename === null ? {} : { filename }) },
  };
}

export function isCurrent(record: DocumentRecord, fence: Fence): boolean {
  const isAttempt = record.version === fence.version && record.attempt === fence.attempt;
  const isSame = fence.generation === undefined || fence.generation === generationId(record);
  return !isFinal(record) && isAttempt && isSame;
}

export function startAttempt(record: DocumentRecord, fence: Fence): Change | null {
  if (!isCurrent(record, fence)) return null;
  return {
    // Its chunks are written anew.
    record: { ...record, status: 'processing', stage: 'parsing', progress: 0, prepared: null },
    open: generationId(record),
  };
}

/** Notes how the file of an attempt was read, before its chunks are written with the tags that say so. */
export function noteExtraction(
  record: DocumentRecord,
  { gaps, extraction, ...fence }: Fence & { gaps: number; extraction: Extraction },
): Change | null {
  if (!isCurrent(record, fence) || !record.pending) return null;
  return { record: { ...record, pending: { ...record.pending, gaps, extraction } } };
}

/** The part of an attempt's progress that is reached when its file is read. The rest is embedding. */
export const READING_SHARE = 0.5;

/** The stages of an attempt that tell their progress. */
const STAGES = ['parsing', 'embedding'];

/**
 * Notes the progress of an attempt. Changes nothing once the attempt is whole or further, since a late report would set
 * back its stage.
 */
export function reportProgress(
  record: DocumentRecord,
  { stage, progress, ...fence }: Fence & { stage: string; progress: number },
): Change | null {
  if (!isCurrent(record, fence) || record.prepared !== null) return null;
  const isLater = STAGES.indexOf(stage) > STAGES.indexOf(record.stage);
  if (record.progress > progress || (record.progress === progress && !isLater)) return null;
  return { record: { ...record, stage, progress } };
}

/** Tells indexes that the generation of an attempt is whole and will soon be published. */
export function prepare(
  record: DocumentRecord,
  { chunkCount, ...fence }: Fence & { chunkCount: number },
): Change | null {
  if (!isCurrent(record, fence) || record.prepared !== null) return null;
  const prepared = { generation: generationId(record), chunkCount };
  return { record: { ...record, stage: 'publishing', prepared } };
}

interface Counts {
  readonly chunkCount: number;
  readonly tokenCount: number;
  /** Gaps that came after the content was read. */
  readonly laterGaps?: number;
}

/** The record with gaps of its pending content that came after that was read. */
export const withLaterGaps = (record: DocumentRecord, laterGaps: number): DocumentRecord =>
  record.pending && laterGaps > 0
    ? { ...record, pending: { ...record.pending, gaps: knownGaps(record.pending) + laterGaps } }
    : record;

/** Makes the generation of an attempt the one that searches answer from. */
export function publish(
  record: DocumentRecord,
  { chunkCount, tokenCount, laterGaps = 0, ...fence }: Fence & Counts,
): Change | null {
  if (!isCurrent(record, fence) || !record.pending) return null;
  const generation = generationId(record);
  const pending = withLaterGaps(record, laterGaps).pending ?? record.pending;
  const published: Content = { ...pending, generation, chunkCount, tokenCount };
  const ended = { ...finished(record, 'completed'), ...replaceAttachments(record) };
  const earlier = latestAttempts(record).filter((each) => each !== generation);
  return {
    record: { ...ended, published, pending: null, error: null, progress: 1 },
    unhide: generation,
    discard: [...earlier, ...generationOf(record.published)],
    discardObjects: objectsOf(record.published),
    usage: endOperation(record, { tokens: tokenCount }),
  };
}

export function fail(
  record: DocumentRecord,
  { failure, ...fence }: Fence & { failure: Failure },
): Change | null {
  if (!isCurrent(record, fence)) return null;
  return {
    record: { ...finished(record, 'failed'), error: failure },
    discard: latestAttempts(record),
    usage: endOperation(record, { tokens: 0, code: failure.code }),
  };
}

/** Starts another run at the same version, because the earlier one has no live job any more. */
export function requeue(record: DocumentRecord): Change | null {
  if (isFinal(record)) return null;
  const attempt = record.attempt + 1;
  return { record: { ...record, status: 'queued', stage: 'queued', attempt, prepared: null } };
}

/**
 * Replaces the content of a document. Content that failed keeps the documents of its attachments until other content is
 * published.
 */
export function replaceContent(
  record: DocumentRecord,
  { content, operation }: { content: Content; operation: IngestOperation },
): Change {
  return {
    record: {
      ...record,
      ...(isFinal(record) ? {} : takeBackAttachments(record, operation.userId)),
      version: record.version + 1,
      attempt: 1,
      status: 'queued',
      stage: 'queued',
      progress: 0,
      error: null,
      pending: { ...content, version: record.version + 1 },
      operation,
      prepared: null,
      updatedAt: now(),
    },
    discard: record.pending ? latestAttempts(record) : [],
    discardObjects: objectsOf(record.pending),
    usage: endOperation(record, { tokens: 0, code: 'superseded' }),
  };
}

/** Takes back the writes of an attempt, which makes room for others; it starts again when there is room. */
export function giveBack(record: DocumentRecord): Change | null {
  const change = record.status === 'processing' ? requeue(record) : null;
  if (!change?.record) return null;
  return { record: { ...change.record, progress: 0 }, discard: latestAttempts(record), evenWhenFull: true };
}

export function retry(record: DocumentRecord, operation: IngestOperation): Change | null {
  if (record.status !== 'failed' && record.status !== 'cancelled') return null;
  const queued = { status: 'queued', stage: 'queued', progress: 0, error: null } as const;
  return {
    record: { ...record, ...queued, attempt: record.attempt + 1, operation, updatedAt: now() },
  };
}

/** @param callerId who cancels, by whose right documents of attachments are removed; else who has asked for the ingest */
export function cancel(record: DocumentRecord, callerId = callerOf(record)): Change | null {
  if (isFinal(record)) return null;
  return {
    record: { ...finished(record, 'cancelled'), ...takeBackAttachments(record, callerId) },
    discard: latestAttempts(record),
    usage: endOperation(record, { tokens: 0, code: 'cancelled' }),
  };
}

export type Patch = Partial<Pick<DocumentRecord, 'metadata' | 'readers' | 'writers' | 'admins'>> & {
  readonly filename?: string | null;
};

/**
 * Changes searches at once, through the check. `retag` notes that the chunks' tags are still to be rewritten.
 * @throws ConflictError where all named admins have left the document
 */
export function patch(record: DocumentRecord, { filename, ...fields }: Patch): Change {
  const rename = (content: Content | null) =>
    content && filename !== undefined ? { ...content, filename } : content;
  return {
    record: {
      ...record,
      ...fields,
      ...withoutLeft(record, fields),
      published: rename(record.published),
      pending: rename(record.pending),
      retag: laterRevision(record.revision),
      updatedAt: now(),
    },
  };
}

/** Puts a document into collections, or takes it out of some: `collections` are those that it is in from then on. */
export const withCollections = (record: DocumentRecord, collections: string[]): Change => ({
  record: { ...record, collections, retag: laterRevision(record.revision), updatedAt: now() },
  evenWhenFull: collections.length < (record.collections ?? []).length,
});

/** Takes a caller out of all lists, for as long as they want. @throws ConflictError for the owner and the only admin */
export function leave(record: DocumentRecord, callerId: string): Change | null {
  if (hasLeft(callerId, record)) return null;
  return { ...withLists(record, withoutCaller(record, callerId)), evenWhenFull: true };
}

/** Gives a caller the rights back that the lists would give them if they had not left. */
export function comeBack(record: DocumentRecord, callerId: string): Change | null {
  return hasLeft(callerId, record) ? withLists(record, withCaller(record, callerId)) : null;
}

const withLists = (record: DocumentRecord, lists: Partial<DocumentRecord>) => ({
  record: { ...record, ...lists, retag: laterRevision(record.revision), updatedAt: now() },
});

/**
 * Gives a document to another owner, who takes the place of the present one in the lists, and gets no right that this one
 * does not have. Usage stays with who has caused it. The work of the tags is also that of the owners' term statistics.
 */
export function giveTo(record: DocumentRecord, ownerId: string): Change | null {
  if (record.ownerId === ownerId) return null;
  const named = (ids: readonly string[]) => [
    ...new Set(ids.map((id) => (id === record.ownerId ? ownerId : id))),
  ];
  const { left } = record;
  const lists = {
    readers: named(record.readers),
    writers: named(record.writers),
    admins: named(record.admins),
    // An owner cannot have left.
    ...(left ? { left: left.filter(({ id }) => id !== ownerId) } : {}),
  };
  return withLists({ ...record, ownerId }, lists);
}

/** Notes that the chunks' tags are to be rewritten, although nothing changes that callers see. */
export const renewTags = (record: DocumentRecord): Change => ({
  record: { ...record, retag: laterRevision(record.revision) },
});

/** Notes that the tags fit the record, unless it was patched again meanwhile. */
export function finishRetag(record: DocumentRecord, mark: number): Change | null {
  return record.retag === mark ? { record: { ...record, retag: 0 } } : null;
}

export function remove(record: DocumentRecord): Change {
  return {
    removed: true,
    discard: [...new Set([...latestAttempts(record), ...generationOf(record.published)])],
    discardObjects: [...objectsOf(record.pending), ...objectsOf(record.published)],
    usage: endOperation(record, { tokens: 0, code: 'deleted' }),
  };
}

/** The owner whose term statistics count the published generation; null when the owner may not read the document. */
export function statisticsOwner(record: DocumentRecord): string | null {
  return isReader(record.ownerId, record) ? record.ownerId : null;
}

function finished(record: DocumentRecord, status: 'completed' | 'failed' | 'cancelled'): DocumentRecord {
  return { ...record, status, stage: status, operation: null, prepared: null, updatedAt: now() };
}

function endOperation(
  record: DocumentRecord,
  outcome: { tokens: number; code?: string },
): readonly UsageEvent[] {
  return record.operation ? [ingestUsageEvent(record.operation, outcome)] : [];
}

const objectsOf = (content: Content | null) => (content ? [content.storageKey] : []);
const generationOf = (content: Content | null) => (content?.generation ? [content.generation] : []);

/**
 * Returns the generations of the latest attempts at the newest version. The sweeper finds the remains of earlier attempts,
 * so that the work of a cancel does not grow with their number.
 */
export function latestAttempts(record: DocumentRecord): string[] {
  const first = Math.max(1, record.attempt + 1 - ATTEMPTS_KEPT);
  return Array.from({ length: record.attempt + 1 - first }, (_, i) =>
    generationId({ ...record, attempt: first + i }),
  );
}
