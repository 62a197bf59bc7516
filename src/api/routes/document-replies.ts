import { isFinal, isOurFailure, type DocumentRecord } from '../../shared/document.js';
import { entityTag } from '../../shared/documents/entity-tag.js';
import { HttpError } from '../http/http-error.js';
import type { DeclaredReply } from '../http/response/reply.js';
import type { Prefer } from '../http/route.js';
import { documentNotFound } from '../services/documents/document-access.js';
import { viewDocument, type documentView } from './document-view.js';

export interface ReplyContext {
  readonly bucket: string;
  readonly prefer: Prefer;
}

/** The document, with 200 when the work on it is done and with 202 before that. */
export type DocumentReply = DeclaredReply<{
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
  if (record.status === 'failed') throw failure(record, headers);
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

/** Returns the header of RFC 7240. With both preferences, the answer is asynchronous only after the wait. */
export function preferenceApplied(
  { waitSeconds, respondAsync }: Prefer,
  isDone: boolean,
): Record<string, string> {
  const applied = [
    ...(respondAsync && !isDone ? ['respond-async'] : []),
    ...(waitSeconds === null ? [] : [`wait=${String(waitSeconds)}`]),
  ];
  return applied.length > 0 ? { 'Preference-Applied': applied.join(', ') } : {};
}

function failure(record: DocumentRecord, headers: Record<string, string>): HttpError {
  const detail = record.error?.message ?? 'The document could not be ingested';
  return isOurFailure(record)
    ? new HttpError(503, detail, { headers: { ...headers, 'Retry-After': '10' } })
    : new HttpError(400, detail, { headers });
}
