import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { RequestAction } from '../../../shared/audit/entry.js';
import type { AuditLog } from '../../../shared/audit/audit-log.js';
import {
  addDocument,
  emptyNotes,
  noteCache,
  noteCollection,
  withNotes,
  type AuditNotes,
} from '../../../shared/audit/notes.js';
import { UnavailableError } from '../../../shared/errors.js';
import { isPlainObject } from '../../../shared/json-values.js';
import type { Caller } from '../../auth/authentication.js';
import { clientAddressOf } from '../client-address.js';
import { answeredRequestId } from '../request/headers.js';
import { mapIterable, type ApiReply } from '../response/reply.js';

export interface AuditOptions {
  readonly log: AuditLog;
  /** True if requests are refused while the log cannot be written. */
  readonly isRequired: boolean;
}

interface Trail extends AuditOptions {
  readonly notes: AuditNotes;
}

/** Empty where there is no audit log. */
const trails = new WeakMap<IncomingMessage, Trail>();
const RETRY_SECONDS = 5;
/** The status that other servers give a request whose client left before its answer began. */
const CLIENT_LEFT = 499;

/** Writes a line for each request whose route names an action, when it is over. It comes after the access log. */
export function createAuditTrail(options: AuditOptions): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now();
    const notes = emptyNotes(answeredRequestId(response));
    trails.set(request, { ...options, notes });
    // A connection that is gone tells no address any more.
    const client = clientAddressOf(request);
    response.once('close', () => {
      if (notes.action) options.log.write(entryOf(notes, notes.action, { response, client, startedAt }));
    });
    withNotes(notes, next);
  };
}

interface Ended {
  readonly response: Response;
  readonly client: string;
  readonly startedAt: number;
}

const entryOf = (notes: AuditNotes, action: RequestAction, { response, client, startedAt }: Ended) => ({
  type: 'request' as const,
  action,
  request: notes.requestId,
  caller: notes.callerId ?? undefined,
  token: notes.tokenId ?? undefined,
  user: notes.userId ?? undefined,
  client,
  // Until an answer begins, its status is 200.
  status: response.headersSent ? response.statusCode : CLIENT_LEFT,
  complete: response.writableFinished,
  ms: Math.round(performance.now() - startedAt),
  documents: notes.documents.size > 0 ? [...notes.documents] : undefined,
  more: notes.more > 0 ? notes.more : undefined,
  cache: notes.cache ?? undefined,
  collection: notes.collection ?? undefined,
});

/** Notes the action of a request. @throws UnavailableError where the log is required and cannot be written */
export function auditAction(request: IncomingMessage, action: RequestAction | null): void {
  const trail = trails.get(request);
  if (!trail) return;
  trail.notes.action = action;
  if (action && trail.isRequired && trail.log.isFailing())
    throw new UnavailableError('the audit log', { retryAfterSeconds: RETRY_SECONDS });
}

/** Notes the caller, and the claim `jti` of the token. */
export function auditCaller(request: IncomingMessage, caller: Pick<Caller, 'id' | 'tokenId'> | null): void {
  const notes = trails.get(request)?.notes;
  if (!notes) return;
  notes.callerId = caller?.id ?? null;
  notes.tokenId = caller?.tokenId ?? null;
}

/** Notes the objects that the path names, whether the caller may know of them or not. */
export function auditPath(request: Pick<Request, 'params'> & IncomingMessage): void {
  const notes = trails.get(request)?.notes;
  if (!notes) return;
  const { document_id: documentId, collection_id: collectionId, name } = request.params;
  if (typeof documentId === 'string') addDocument(notes, documentId);
  if (typeof collectionId === 'string') noteCollection(collectionId);
  if (typeof name === 'string') noteCache(name);
}

/** The notes of a request; undefined where there is no audit log. */
const auditNotes = (request: IncomingMessage): AuditNotes | undefined => trails.get(request)?.notes;

/** Returns the same reply. The audit log notes its documents as they are sent. */
export function auditAnswer(request: IncomingMessage, reply: ApiReply): ApiReply {
  const notes = auditNotes(request);
  return notes ? noting(reply, (value) => noteNamed(notes, value)) : reply;
}

function noting(reply: ApiReply, note: (value: unknown) => void): ApiReply {
  const passing = <Value>(value: Value): Value => {
    note(value);
    return value;
  };
  switch (reply.type) {
    case 'json':
      note(reply.body);
      return reply;
    case 'items':
      return { ...reply, items: mapIterable(reply.items, passing) };
    case 'lines':
      return { ...reply, lines: mapIterable(reply.lines, passing) };
    case 'events':
      return { ...reply, events: mapIterable(reply.events, passing) };
    case 'download':
    case 'message':
      return reply;
  }
}

/**
 * Notes the documents that an answer names, by the fields in which answers do so: of itself or of its items, of the sources
 * of an answer to a question, and of attachments. A test holds the examples of all routes against this.
 */
function noteNamed(notes: AuditNotes, value: unknown): void {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    for (const item of items) noteNamed(notes, item);
    return;
  }
  if (!isPlainObject(value)) return;
  for (const field of ID_FIELDS) {
    const id = value[field];
    if (typeof id === 'string') addDocument(notes, id);
  }
  for (const field of LIST_FIELDS) {
    const list = value[field];
    if (Array.isArray(list)) noteListed(notes, list);
  }
}

function noteListed(notes: AuditNotes, list: readonly unknown[]): void {
  for (const item of list)
    if (typeof item === 'string') addDocument(notes, item);
    else noteNamed(notes, item);
}

const ID_FIELDS = ['external_id', 'document_id', 'file_id'];
const LIST_FIELDS = [
  'documents',
  'sources',
  'attachments',
  'former_attachments',
  'accepted_documents',
  'records',
  'output',
  'content',
  'annotations',
];
