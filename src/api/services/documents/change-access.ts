import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { hasRight, type AccessLists, type Principal } from '../../../shared/access/access.js';
import {
  ACCESS_LISTS,
  canLeave,
  leftWith,
  requireMembership,
  withoutUnnoted,
} from '../../../shared/access/leaving.js';
import type { DocumentRecord } from '../../../shared/document.js';
import type { Change } from '../../../shared/documents/change.js';
import { comeBack, leave, patch, type Patch } from '../../../shared/documents/transitions.js';
import { NotFoundError, TooManyError } from '../../../shared/errors.js';
import { grows } from '../ingest/admission/memory-growth.js';
import type { ChangeDocument, ChangeRequest } from './commit-change.js';

/** The number of changes by others in between, after which the caller is told to try again. */
const MAX_ROUNDS = 10;
const PAUSE_MILLISECONDS = 20;

interface Parts {
  readonly change: ChangeDocument;
  /** Has the tags of an attachment's chunks rewritten. */
  readonly retag: (record: DocumentRecord) => Promise<void>;
}

/** A patch that only removes something is written even when Redis is full. */
export const patchedBy =
  (fields: Patch) =>
  (current: DocumentRecord): Change => {
    const change = patch(current, fields);
    return { ...change, evenWhenFull: !grows(current, change.record ?? current) };
  };

/**
 * Patches a document and gives its new access to the documents of its attachments. The record announces it, so that
 * attachments of which documents are being made get it too. Then it is given to the existing ones, and only then to the
 * document itself: an attachment is never open to somebody from whom the document was closed. When this is interrupted,
 * asking for it again does the rest.
 * @throws ForbiddenError, NotFoundError, TooManyError
 */
export const changeAccess = (
  parts: Parts,
  asked: ChangeRequest,
  fieldsOf: FieldsOf,
): ReturnType<ChangeDocument> =>
  changeWithAttachments(parts, asked, {
    apply: (now) => patchedBy(fieldsOf(now))(now),
    ofAttachments: (before) => inheriting(asked.principal, { before, lists: listsOf(fieldsOf(before)) }),
  });

/**
 * Takes a caller out of the lists of a document and of the documents of its attachments, in the same way.
 * @throws ForbiddenError for a caller whom no list names, ConflictError for the owner and the only admin; NotFoundError,
 *   TooManyError
 */
export function leaveWithAttachments(parts: Parts, asked: ChangeRequest): ReturnType<ChangeDocument> {
  const { principal } = asked;
  const ofAttachments = () => inAttachments;
  // A caller need not leave attachments that they own or alone have charge of.
  const inAttachments: Changes = {
    apply: (now) => (canLeave(principal, now) ? leave(now, principal.id) : null),
    ofAttachments,
  };
  return changeWithAttachments(parts, asked, {
    apply: (now) => {
      requireMembership(principal, now);
      return leave(now, principal.id);
    },
    ofAttachments,
  });
}

/**
 * Gives a caller the rights back that the lists of these documents would give them if they had not left; nothing where they
 * have not.
 */
export function comeBackWithAttachments(parts: Parts, asked: ChangeRequest): ReturnType<ChangeDocument> {
  const changes: Changes = {
    apply: (now) => comeBack(now, asked.principal.id),
    ofAttachments: () => changes,
  };
  return changeWithAttachments(parts, asked, changes);
}

/** The patch of a document's fields, by the document as it is now. */
export type FieldsOf = (now: DocumentRecord) => Patch;

interface Changes {
  /** Null where nothing changes. */
  readonly apply: (now: DocumentRecord) => Change | null;
  /** Returns the changes of documents of attachments, for a document that was as given. */
  readonly ofAttachments: (before: DocumentRecord) => Changes;
}

/** The lists that attachments, and attachments of attachments, get. */
interface Given {
  /** The document that is patched, as it was before. */
  readonly before: DocumentRecord;
  /** The lists that are changed. */
  readonly lists: Partial<AccessLists>;
}

function inheriting(principal: Principal, given: Given): Changes {
  const changes: Changes = {
    apply: (attachment) => {
      const now: DocumentRecord = { ...attachment, ...leftWith(attachment, given.before) };
      return patchedBy(withoutUnnoted(now, inherited(now, principal, given)))(now);
    },
    ofAttachments: () => changes,
  };
  return changes;
}

async function changeWithAttachments(
  parts: Parts,
  asked: ChangeRequest,
  { apply, ofAttachments }: Changes,
): ReturnType<ChangeDocument> {
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const id = randomUUID();
    const last: { before: DocumentRecord | null } = { before: null };
    const first = await parts.change(asked, (now) => {
      last.before = now;
      return hasAttachments(now) ? announce(now, apply(now), id) : finish(apply(now));
    });
    if (!last.before || first.record?.accessChange?.id !== id) return first;
    const changes = ofAttachments(last.before);
    const reached = await giveToAttachments(parts, asked, { parent: first.record, changes });
    const isOwn = (now: DocumentRecord) => now.accessChange?.id === id;
    const done = await parts.change(asked, (now) =>
      isOwn(now) ? finish(apply(now) ?? { record: now }) : null,
    );
    if (done.changed && !(await hasUnreached(parts, asked, { parent: done.record, reached }))) return done;
    // Another change of access was announced meanwhile, or a document was made of an attachment, open only to users who
    // have access before and after the change. Unequal pauses keep two changes from hindering each other for ever.
    await pause(Math.random() * PAUSE_MILLISECONDS * round);
  }
  throw new TooManyError('Too many changes of access are still being made', { retryAfterSeconds: 2 });
}

const hasAttachments = ({ attachments }: DocumentRecord): boolean => (attachments ?? []).length > 0;

function announce(now: DocumentRecord, change: Change | null, id: string): Change {
  const { record, evenWhenFull = false } = change ?? { record: now, evenWhenFull: true };
  const { readers, writers, admins } = record ?? now;
  return { record: { ...now, accessChange: { id, readers, writers, admins } }, evenWhenFull };
}

const finish = (change: Change | null): Change | null =>
  !change || change.removed ? change : { ...change, record: { ...change.record, accessChange: null } };

/** @returns the attachments that were there */
async function giveToAttachments(
  parts: Parts,
  { principal }: ChangeRequest,
  { parent, changes }: { parent: DocumentRecord; changes: Changes },
): Promise<ReadonlySet<string>> {
  const reached = new Set<string>();
  for (const documentId of parent.attachments ?? []) {
    const asked = { documentId, principal, right: null };
    const changed = await ifThere(async () => {
      if (!(await isAttachment(parts, asked, parent))) return null;
      reached.add(documentId);
      return (await changeWithAttachments(parts, asked, changes)).record;
    });
    if (changed && changed.retag > 0) await parts.retag(changed);
  }
  return reached;
}

/** Tells whether there is an attachment by now that a change has not reached. */
async function hasUnreached(
  parts: Parts,
  { principal }: ChangeRequest,
  { parent, reached }: { parent: DocumentRecord | null; reached: ReadonlySet<string> },
): Promise<boolean> {
  for (const documentId of parent?.attachments ?? []) {
    if (!parent || reached.has(documentId)) continue;
    const asked = { documentId, principal, right: null };
    if (await ifThere(() => isAttachment(parts, asked, parent))) return true;
  }
  return false;
}

async function isAttachment(
  { change }: Parts,
  asked: ChangeRequest,
  { id }: DocumentRecord,
): Promise<boolean> {
  const { record } = await change(asked, () => null);
  return record?.attachmentOf?.documentId === id;
}

/** Null when the document was removed, or is not there yet. */
async function ifThere<Result>(use: () => Promise<Result>): Promise<Result | null> {
  try {
    return await use();
  } catch (error) {
    if (error instanceof NotFoundError) return null;
    throw error;
  }
}

/**
 * Returns the lists that an attachment gets: the document's lists where the caller may change its access. Where others have
 * taken it over, it is only closed to callers from whom the document is closed.
 */
function inherited(
  attachment: DocumentRecord,
  principal: Principal,
  { before, lists }: Given,
): Partial<AccessLists> {
  if (hasRight(principal, attachment, 'change access')) return lists;
  const left: Partial<Record<(typeof ACCESS_LISTS)[number], string[]>> = {};
  for (const name of ACCESS_LISTS) {
    const wanted = lists[name];
    if (!wanted) continue;
    const [old, next] = [new Set(before[name]), new Set(wanted)];
    left[name] = attachment[name].filter((id) => next.has(id) || !old.has(id));
  }
  return left;
}

/** The lists among the fields of a patch. */
function listsOf(fields: Patch): Partial<AccessLists> {
  const given = ACCESS_LISTS.flatMap((name) => (fields[name] ? [[name, fields[name]] as const] : []));
  return Object.fromEntries(given);
}
