import type { DocumentRecord } from '../../shared/document.js';
import { AppError } from '../../shared/errors.js';
import { reply, type ApiReply, type Prefer } from '../route.js';
import { documentNotFound } from '../services/document-access.js';
import { isSettled, viewDocument } from '../services/document-view.js';

export interface ReplyContext {
  readonly bucket: string;
  readonly prefer: Prefer;
}

/**
 * What became of an ingest: 200 completed, 202 still going on.
 * @throws AppError 400 or 503 failed, 404 deleted meanwhile, 409 cancelled meanwhile
 */
export function replyIngest(record: DocumentRecord | null, context: ReplyContext): ApiReply {
  if (!record) throw documentNotFound();
  const headers = { Location: `/documents/${record.id}` };
  if (record.status === 'failed') throw failure(record, headers);
  if (record.status === 'cancelled') throw new AppError(409, 'The ingest was cancelled', { headers });
  return replyDocument(record, isSettled(record), context);
}

/** 200 when it is done, else 202 with where to ask for the status. */
export function replyDocument(
  record: DocumentRecord | null,
  isDone: boolean,
  { bucket, prefer }: ReplyContext,
): ApiReply {
  if (!record) throw documentNotFound();
  const headers = preferenceApplied(prefer, isDone);
  const body = viewDocument(record, bucket);
  if (isDone) return reply.json(200, body, headers);
  return reply.json(202, body, { ...headers, Location: `/documents/${record.id}/status` });
}

/** RFC 7240; with both preferences the answer is asynchronous only after the wait. */
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

function failure({ error }: DocumentRecord, headers: Record<string, string>): AppError {
  const detail = error?.message ?? 'The document could not be ingested';
  const isOurs = error?.code === 'provider' || error?.code === 'internal';
  return isOurs
    ? new AppError(503, detail, { headers: { ...headers, 'Retry-After': '10' } })
    : new AppError(400, detail, { headers });
}
