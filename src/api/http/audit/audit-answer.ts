import type { IncomingMessage } from 'node:http';
import { addDocument, type AuditNotes } from '../../../shared/audit/notes.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { mapIterable } from '../response/async-iterables.js';
import type { ApiReply } from '../response/reply.js';
import { auditNotes } from './audit-trail.js';

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
      return reply;
  }
}

/**
 * Notes the documents that an answer names, by the fields in which answers do so: of itself or of its items, of the sources
 * of an answer to a question, and of attachments. A test holds the examples of all routes against this.
 */
function noteNamed(notes: AuditNotes, value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) noteNamed(notes, item);
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

const ID_FIELDS = ['external_id', 'document_id'];
const LIST_FIELDS = ['sources', 'attachments', 'former_attachments', 'accepted_documents'];
