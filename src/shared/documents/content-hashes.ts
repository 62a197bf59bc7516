import { isReader } from '../access/access.js';
import type { DocumentRecord } from '../document.js';
import { formerOwner, type Change } from './change.js';
import { ANSWER } from './commit/answers.js';

/*
 * The contents by which an owner's documents are found again: a sorted set for each owner with a member for each document.
 * The commit script changes it in the step that writes a record, so that the two always agree.
 */

/** The owner of a new document has another one of the same content. */
export class SameContentError extends Error {
  override readonly name = 'SameContentError';
  constructor() {
    super('the owner has a document of this content');
  }
}

/** The members of all documents of a content begin with this. */
const beginning = (sha256: string): string => `${sha256}:`;

/** All members of a content, for ZRANGEBYLEX. */
export const contentRange = (sha256: string) => ({ from: `[${sha256}:`, to: `(${sha256};` });

/** The id of the document that a member stands for. */
export const documentOfMember = (member: string): string => member.slice(member.indexOf(':') + 1);

/**
 * The member of a document. It stands for the newest content, published or not; null when the owner may not read the
 * document, or when the ingest of that content failed or was cancelled.
 */
export function contentMember(record: DocumentRecord): string | null {
  const { id, ownerId, status, pending, published } = record;
  const newest = pending ?? published;
  const hasEnded = status === 'failed' || status === 'cancelled';
  return newest && !hasEnded && isReader(ownerId, record) ? `${beginning(newest.sha256)}${id}` : null;
}

/** Returns the fields of `change` that the two parts below read. A field without a value is missing there. */
export function contentFields(before: DocumentRecord | null, change: Change) {
  const memberOf = (record: DocumentRecord | null | undefined) =>
    (record ? contentMember(record) : null) ?? undefined;
  const [left, entered] = [memberOf(before), memberOf(change.record)];
  // The lists of two owners are two, although a document is the same member of both.
  const isSame = left === entered && formerOwner(before, change) === null;
  const newest = change.record?.pending ?? change.record?.published;
  return {
    contentLeft: isSame ? undefined : left,
    contentEntered: isSame ? undefined : entered,
    newContent: change.onlyNewContent === true ? newest?.sha256 : undefined,
  };
}

/** Expects the locals `change` and `contents`, the key of the owner's sorted set. */
export const CHECK_CONTENT_IS_NEW = `
if change.newContent then
  local from, to = '[' .. change.newContent .. ':', '(' .. change.newContent .. ';'
  if #redis.call('ZRANGEBYLEX', contents, from, to, 'LIMIT', 0, 1) > 0 then return ${String(ANSWER.sameContent)} end
end
`;

/** Expects `formerContents` as well, the key of the sorted set of who was the owner, in a list that is empty for most. */
export const INDEX_CONTENT = `
if change.contentLeft then redis.call('ZREM', formerContents[1] or contents, change.contentLeft) end
if change.contentEntered then redis.call('ZADD', contents, 0, change.contentEntered) end
`;
