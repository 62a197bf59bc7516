import type { Content, DocumentRecord } from '../../shared/document.js';
import { AppError } from '../../shared/errors.js';
import type { Records } from '../../shared/records.js';
import { replaceContent } from '../../shared/transitions.js';
import type { ReceiveUpload } from '../upload.js';
import type { Accounting } from './accounting.js';
import type { ChangeDocument } from './change-document.js';
import { readDocument } from './document-access.js';
import { isSettled } from './document-view.js';
import { begunOperation, newOperation, type IngestContext } from './ingest.js';
import type { JobRequests } from './job-requests.js';
import { beginSettling, patienceOf, type Settle, type Settling } from './settling.js';
import type { Sources } from './sources.js';

export interface TextUpdate {
  readonly content: string;
  /** Undefined: the text keeps the name that it had. */
  readonly filename: string | undefined;
}

/** `changed` is false for content that the document has already; the record is null when it was deleted meanwhile. */
export interface ContentUpdate extends Settling {
  readonly changed: boolean;
}

export interface ContentUpdates {
  putText(documentId: string, update: TextUpdate, context: IngestContext): Promise<ContentUpdate>;
  putFile(documentId: string, receiveUpload: ReceiveUpload, context: IngestContext): Promise<ContentUpdate>;
}

export function createContentUpdates({
  records,
  sources,
  change,
  jobs,
  settle,
  accounting,
}: {
  readonly records: Records;
  readonly sources: Sources;
  readonly change: ChangeDocument;
  readonly jobs: JobRequests;
  readonly settle: Settle;
  readonly accounting: Accounting;
}): ContentUpdates {
  /** Before the body is read, so that nobody uploads in vain; the change itself checks again. */
  const openVersion = async (documentId: string, { caller }: IngestContext) => {
    const record = await readDocument(records, { documentId, callerId: caller.id }, 'write');
    return { documentId, version: record.version + 1 };
  };

  const replace = async (
    { documentId, name, content, lost }: Replacement,
    { caller, startedAtMs }: IngestContext,
  ) => {
    const request = { documentId, callerId: caller.id, right: 'write' } as const;
    try {
      return await change(request, (record) => {
        const named = { ...content, filename: name(record) };
        if (hasContent(record, named) && newestContent(record)?.storageKey !== lost) return null;
        const operation = newOperation(named, { documentId, userId: caller.id, startedAtMs });
        return replaceContent(record, { content: named, operation });
      });
    } catch (error) {
      // A reply that was lost does not mean that nothing was written, and what was written may be published or overtaken
      // by now. Unless it was refused the bytes stay: they are swept one day, should no record refer to them.
      if (error instanceof AppError) await sources.discard(content.storageKey);
      const record = error instanceof AppError ? null : await records.read(documentId).catch(() => null);
      const isWritten = [record?.pending, record?.published].some(
        (each) => each?.storageKey === content.storageKey,
      );
      if (isWritten) return { record, changed: true };
      throw error;
    }
  };

  const put = async (documentId: string, name: NameContent, content: Content, context: IngestContext) => {
    const replacement = { documentId, name, content, lost: null };
    let { record, changed } = await replace(replacement, context);
    const lost = changed || !record ? null : await findLost(record);
    // What the document has already, but storage no more, is new after all.
    if (lost !== null) ({ record, changed } = await replace({ ...replacement, lost }, context));
    if (!changed) await sources.discard(content.storageKey);
    else if (record) await jobs.ingest(record, context);
    const settling = beginSettling(settle, record, { isDone: isSettled, ...patienceOf(context) });
    return { ...settling, changed };
  };

  const findLost = async (record: DocumentRecord) => {
    const key = newestContent(record)?.storageKey ?? null;
    return key !== null && (await sources.isLost(key)) ? key : null;
  };

  return {
    putText: async (documentId, { content: text, filename }, context) => {
      const version = await openVersion(documentId, context);
      const operation = begunOperation('ingest_text', context, { document_id: documentId });
      const content = await accounting.begin(operation, () => sources.storeText(version, text));
      return put(documentId, (record) => filename ?? textName(record), content, context);
    },
    putFile: async (documentId, receiveUpload, context) => {
      const version = await openVersion(documentId, context);
      const operation = begunOperation('ingest_file', context, { document_id: documentId });
      const store = () => sources.storeUpload(version, { receiveUpload, fields: {} });
      const content = await accounting.begin(operation, store);
      return put(documentId, () => content.filename, content, context);
    },
  };
}

interface Replacement {
  readonly documentId: string;
  readonly name: NameContent;
  readonly content: Content;
  /** Key of a source that storage has lost: content that it was for counts as new. */
  readonly lost: string | null;
}

type NameContent = (record: DocumentRecord) => string | null;

const newestContent = ({ pending, published }: DocumentRecord): Content | null => pending ?? published;

function textName(record: DocumentRecord): string | null {
  const newest = newestContent(record);
  return newest?.kind === 'text' ? newest.filename : null;
}

function hasContent(record: DocumentRecord, content: Content): boolean {
  const newest = newestContent(record);
  return (
    newest?.kind === content.kind &&
    newest.sha256 === content.sha256 &&
    newest.contentType === content.contentType &&
    newest.filename === content.filename
  );
}
