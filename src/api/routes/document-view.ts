import { z } from 'zod';
import { mailHeadersSchema } from '../../readers/index.js';
import { SPLITTERS } from '../../shared/chunking.js';
import {
  DOCUMENT_STATUSES,
  isFinal,
  programmingLanguage,
  shownContent,
  isOurFailure,
  entityTag,
  type DocumentRecord,
} from '../../shared/document.js';
import { FAILURE_CODES } from '../../shared/errors.js';
import { HttpError } from '../http/http-error.js';
import { preferenceApplied, type Prefer } from '../http/request/headers.js';
import type { DeclaredReply } from '../http/response/reply.js';
import { documentNotFound } from '../services/documents/document-access.js';
import { extractionSummary, viewSummary } from './extraction-view.js';

const timestamp = z.iso.datetime();
export const failure = z.object({ code: z.enum(FAILURE_CODES), message: z.string(), stage: z.string() });

const progressFields = {
  published_version: z.int().nullable().describe('The version that searches find; null until one is ready.'),
  status: z.enum(DOCUMENT_STATUSES),
  stage: z
    .string()
    .describe('The step that the ingest is at, or `access` while a change of access is spread.'),
  progress: z.number().min(0).max(1).describe('The part of the ingest that is done.'),
  error: failure.nullable().describe('Why the ingest failed.'),
};

const chunkingView = z.object({
  size: z.int().optional(),
  overlap: z.int().optional(),
  splitter: z.enum(SPLITTERS).optional(),
});

/** A document as clients see it. */
export const documentView = z
  .object({
    external_id: z.uuid().describe('The id of the document.'),
    content_type: z.string().describe('The media type of the source.'),
    filename: z.string().nullable(),
    source_id: z
      .string()
      .nullable()
      .describe(
        'The name of its source, which no other document of the owner has; null where none was stated.',
      ),
    metadata: z.record(z.string(), z.unknown()),
    storage_info: z
      .object({ bucket: z.string(), key: z.string() })
      .or(z.strictObject({}))
      .describe('Where the object storage keeps the file; empty for a text.'),
    system_metadata: z.object({
      owner: z.string().describe('Who made the document; it stays theirs, whoever may read or change it.'),
      created_at: timestamp,
      updated_at: timestamp,
      version: z.int().positive().describe('Grows by one with each new content.'),
      ...progressFields,
      chunk_count: z.int().min(0),
      token_count: z.int().min(0).describe('The tokens of all chunks.'),
      content_sha256: z.string().describe('The digest of the source.'),
      size_bytes: z.int().min(0).describe('The size of the source.'),
      gaps: z
        .int()
        .min(0)
        .nullable()
        .describe('How much of the file was not read, as its extraction says; null until it was read.'),
      chunking: chunkingView
        .nullable()
        .describe('How it is cut into chunks, as far as that was stated; null where the settings decide.'),
      extraction: extractionSummary
        .nullable()
        .describe('How the file was read; null for a text, and until then.'),
      programming_language: z
        .string()
        .nullable()
        .describe('The language of a file that is source code; null for all others.'),
      mail: mailHeadersSchema
        .nullable()
        .describe(
          'The headers of a file that is one message; null for all others. Addresses are in lower case, without ' +
            'names, at most 32 of each kind; `date` is ISO 8601 in UTC, and `message_id` without angle brackets.',
        ),
    }),
    access_control: z.object({
      readers: z.array(z.string()).describe('Who may read the document.'),
      writers: z.array(z.string()).describe('Who may also change and delete it.'),
      admins: z.array(z.string()).describe('Who may also change these lists.'),
    }),
    chunk_ids: z.array(z.string()).describe('The ids of its chunks, in the order of the text.'),
  })
  .meta({
    id: 'Document',
    description: 'A document with its metadata, its state and the lists of who may do what.',
  });
export type DocumentView = z.infer<typeof documentView>;

export const documentStatusView = z
  .object({ document_id: z.uuid(), version: z.int().positive(), ...progressFields })
  .meta({ id: 'DocumentStatus', description: 'How far the ingest of a document is.' });
export type DocumentStatusView = z.infer<typeof documentStatusView>;

export function viewDocument(record: DocumentRecord, bucket: string): DocumentView {
  const content = shownContent(record);
  return {
    external_id: record.id,
    content_type: content.contentType,
    filename: content.filename,
    source_id: record.sourceId ?? null,
    metadata: record.metadata,
    storage_info: content.kind === 'text' ? {} : { bucket, key: content.storageKey },
    system_metadata: {
      owner: record.ownerId,
      created_at: record.createdAt,
      updated_at: record.updatedAt,
      version: record.version,
      ...viewProgress(record),
      chunk_count: content.chunkCount,
      token_count: content.tokenCount,
      content_sha256: content.sha256,
      size_bytes: content.sizeBytes,
      gaps: content.gaps ?? null,
      chunking: content.chunking ?? null,
      extraction: content.extraction ? viewSummary(content.extraction) : null,
      programming_language: programmingLanguage(content.extraction) ?? null,
      mail: content.extraction?.mail ?? null,
    },
    access_control: { readers: record.readers, writers: record.writers, admins: record.admins },
    chunk_ids: Array.from({ length: content.chunkCount }, (_, number) => `${record.id}-${String(number)}`),
  };
}

export function viewStatus(record: DocumentRecord): DocumentStatusView {
  return { document_id: record.id, version: record.version, ...viewProgress(record) };
}

function viewProgress(record: DocumentRecord) {
  return {
    published_version: record.published?.version ?? null,
    status: record.status,
    stage: isFinal(record) && record.retag > 0 ? 'access' : record.stage,
    progress: record.progress,
    error: record.status === 'failed' ? record.error : null,
  };
}

interface ReplyContext {
  readonly bucket: string;
  readonly prefer: Prefer;
}

/** The document, with 200 when the work on it is done and with 202 before that. */
type DocumentReply = DeclaredReply<{
  readonly 200: typeof documentView;
  readonly 202: typeof documentView;
}>;

/**
 * Answers with the outcome of an ingest: 200 when it is completed, 202 while it goes on.
 * @throws HttpError 400 or 503 when it failed, 409 when it was cancelled; NotFoundError when the document was deleted
 */
export function replyIngest(record: DocumentRecord | null, context: ReplyContext): DocumentReply {
  if (!record) throw documentNotFound();
  const headers = { Location: `/documents/${record.id}` };
  if (record.status === 'failed') throw ingestFailure(record, headers);
  if (record.status === 'cancelled') throw new HttpError(409, 'The ingest was cancelled', { headers });
  return replyDocument(record, isFinal(record), context);
}

/** Answers 200 when the work is done, else 202 with the address of the status. @throws NotFoundError without a record */
export function replyDocument(
  record: DocumentRecord | null,
  isDone: boolean,
  { bucket, prefer }: ReplyContext,
): DocumentReply {
  if (!record) throw documentNotFound();
  const headers = { ...preferenceApplied(prefer, isDone), ...tagged(record) };
  const body = viewDocument(record, bucket);
  if (isDone) return { type: 'json', status: 200, body, headers };
  const location = { Location: `/documents/${record.id}/status` };
  return { type: 'json', status: 202, body, headers: { ...headers, ...location } };
}

/** The header that names the state of a document, for `If-Match`. */
export const tagged = (record: DocumentRecord) => ({ ETag: `"${entityTag(record)}"` });

function ingestFailure(record: DocumentRecord, headers: Record<string, string>): HttpError {
  const detail = record.error?.message ?? 'The document could not be ingested';
  return isOurFailure(record)
    ? new HttpError(503, detail, { headers: { ...headers, 'Retry-After': '10' } })
    : new HttpError(400, detail, { headers });
}
