import { requireRight, type AccessLists } from '../../../shared/access/access.js';
import { newestContent, type Content, type DocumentRecord } from '../../../shared/document.js';
import type { Change } from '../../../shared/documents/change.js';
import type { Records } from '../../../shared/documents/records.js';
import { newOperation, patch, replaceContent, type Patch } from '../../../shared/documents/transitions.js';
import { NotFoundError } from '../../../shared/errors.js';
import { joinCollections } from '../collections/collection-documents.js';
import { changeAccess } from '../documents/change-access.js';
import type { ChangeDocument } from '../documents/commit-change.js';
import { findLost, hasBytes, readAsBefore, textName, writtenAfterAll } from './content-updates.js';
import type { JobRequests } from './job-requests.js';
import { isOfSource, type KnownSources } from './known-sources.js';
import type { KeptBytes, Sources } from './sources.js';
import type { NewDocument, ReplaceSource, StatedDetails, StoringContext } from './store-records.js';

interface Parts {
  readonly records: Pick<Records, 'create' | 'read'>;
  readonly sources: Sources;
  readonly change: ChangeDocument;
  readonly jobs: Pick<JobRequests, 'ingest' | 'attachments' | 'retag'>;
  readonly knownSources: KnownSources;
}

export function createReplaceSource(parts: Parts): ReplaceSource {
  const { records, knownSources } = parts;
  return async (document, context) => {
    const { ownerId, sourceId } = document.record;
    if (sourceId == null) throw new Error('a document without a source');
    for (;;) {
      const known = await knownSources.find(ownerId, sourceId);
      if (!known) {
        // The step refuses it where another request has come first, and it is looked for again.
        await records.create(document.record, document);
        return null;
      }
      try {
        return await replaceIn(parts, { ...wantedOf(document), known, sourceId }, context);
      } catch (error) {
        if (!(error instanceof NotFoundError)) throw error;
      }
    }
  };
}

interface Wanted extends Pick<NewDocument, 'reservation'> {
  readonly content: Content;
  readonly kept: KeptBytes;
  readonly stated: StatedDetails;
  /** The lists that are stated, with the owner in each, as a new document would have them. */
  readonly lists: Partial<AccessLists>;
  /** The collections that it is put into. */
  readonly collections: readonly string[];
}

interface Replacement extends Wanted {
  readonly known: DocumentRecord;
  readonly sourceId: string;
}

function wantedOf({ record, source, stated, reservation }: NewDocument): Wanted {
  const { pending: content } = record;
  if (!content || !stated) throw new Error('a document that cannot be there already');
  const { storageKey } = content;
  const lists = Object.fromEntries(stated.lists.map((name) => [name, record[name]]));
  const collections = record.collections ?? [];
  return { content, kept: { storageKey, source }, stated, lists, collections, reservation };
}

/** @throws NotFoundError where the document is not there any more, or is another owner's by now */
async function replaceIn(
  parts: Parts,
  replacement: Replacement,
  context: StoringContext,
): Promise<DocumentRecord> {
  // Whoever is to lose the right to read must not see the new content.
  await giveAccess(parts, replacement, context);
  let copy: KeptBytes | null = null;
  for (let lost: string | null = null; ;) {
    const done: Replaced = await replaceOnce(parts, { ...replacement, copy, lost }, context);
    const { record, needsBytes, isReplaced } = done;
    if (needsBytes) {
      const owner = { documentId: record.id, version: record.version + 1 };
      copy = await parts.sources.copyFor(owner, replacement.kept);
      continue;
    }
    // The document already has this content, but the storage has lost it, so it is stored as new content.
    if (!isReplaced && lost === null && (lost = await findLost(parts.sources, record)) !== null) continue;
    if (!isReplaced && copy) await parts.sources.discard(copy.storageKey);
    if (isReplaced) await parts.jobs.ingest(record, context);
    if (isReplaced) await parts.jobs.attachments(record, context);
    if (record.retag > 0) await parts.jobs.retag(record, context);
    return record;
  }
}

/** Gives the stated lists to the document, and to the documents of its attachments. */
async function giveAccess(
  { change, jobs }: Parts,
  { known, lists, ...replacement }: Replacement,
  context: StoringContext,
): Promise<void> {
  const { principal } = context;
  if (isSame(lists, Object.fromEntries(replacement.stated.lists.map((name) => [name, known[name]])))) return;
  const asked = { documentId: known.id, principal, right: 'change access' } as const;
  const retag = (record: DocumentRecord) => jobs.retag(record, context);
  const { record } = await changeAccess({ change, retag }, asked, (now) => {
    requireSource(now, replacement.sourceId, known.ownerId);
    return lists;
  });
  if (record && record.retag > 0) await retag(record);
}

interface Replaced {
  readonly record: DocumentRecord;
  /** True if the bytes have to be kept for this document first. */
  readonly needsBytes: boolean;
  readonly isReplaced: boolean;
}

interface Attempt extends Replacement {
  /** The bytes as they are kept for this document. */
  readonly copy: KeptBytes | null;
  /** Key of a source that the storage has lost; the same content then counts as new. */
  readonly lost: string | null;
}

async function replaceOnce(parts: Parts, attempt: Attempt, context: StoringContext): Promise<Replaced> {
  const { known, sourceId, copy } = attempt;
  const asked = { documentId: known.id, principal: context.principal, right: null };
  const last = { needsBytes: false };
  const transition = (now: DocumentRecord): Change | null => {
    requireSource(now, sourceId, known.ownerId);
    requireRight(context.principal, now, 'write');
    const content = contentFor(now, attempt);
    const isKept = hasBytes(now, content) && !hasEndedBadly(now);
    const isNew = !isKept || newestContent(now)?.storageKey === attempt.lost;
    last.needsBytes = isNew && !copy;
    const joined = joinCollections(now, attempt.collections);
    const member = joined?.record ?? now;
    if (!isNew)
      return patchUnlessSame(member, { ...metadataOf(attempt), filename: content.filename }) ?? joined;
    if (!copy) return null;
    const { reservation } = attempt;
    const operation = newOperation(content, {
      documentId: now.id,
      userId: context.callerId,
      startedAtMs: context.startedAtMs,
    });
    const patched = patchUnlessSame(member, metadataOf(attempt))?.record ?? member;
    const replaced = replaceContent(patched, {
      content: { ...content, storageKey: copy.storageKey },
      operation,
    });
    return { ...replaced, source: copy.source, reservation };
  };
  const { record } = await changeOrFind(parts, { attempt, change: () => parts.change(asked, transition) });
  if (!record) throw new NotFoundError('Document not found');
  const isReplaced = copy !== null && newestContent(record)?.storageKey === copy.storageKey;
  return { record, needsBytes: last.needsBytes, isReplaced };
}

/** Changes the document; after an error, it may have been changed all the same. */
async function changeOrFind(
  { records, sources }: Parts,
  { attempt: { copy, known }, change }: { attempt: Attempt; change: () => ReturnType<ChangeDocument> },
): Promise<{ readonly record: DocumentRecord | null }> {
  try {
    return await change();
  } catch (error) {
    if (!copy) throw error;
    const written = { documentId: known.id, storageKey: copy.storageKey };
    return writtenAfterAll({ records, sources }, written, error);
  }
}

/** The content as the document gets it: what is not stated stays as it is. */
function contentFor(now: DocumentRecord, { content, stated }: Replacement): Content {
  const isUnnamed = content.kind === 'text' && content.filename === null;
  const filename = isUnnamed ? textName(now) : content.filename;
  return { ...readAsBefore(now, content, stated), filename };
}

const metadataOf = ({ stated: { metadata } }: Replacement): Pick<Patch, 'metadata'> =>
  metadata === undefined ? {} : { metadata };

function patchUnlessSame(now: DocumentRecord, fields: Patch): Change | null {
  const present: Patch = { metadata: now.metadata, filename: newestContent(now)?.filename ?? null };
  return isSame({ ...present, ...fields }, present) ? null : patch(now, fields);
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const hasEndedBadly = ({ status }: DocumentRecord): boolean => status === 'failed' || status === 'cancelled';

/** @throws NotFoundError for a document that is of this source of this owner no longer */
function requireSource(now: DocumentRecord, sourceId: string, ownerId: string): void {
  if (!isOfSource(now, ownerId, sourceId)) throw new NotFoundError('Document not found');
}
