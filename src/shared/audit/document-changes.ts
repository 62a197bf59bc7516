import { ACCESS_LISTS } from '../access/leaving.js';
import type { DocumentRecord } from '../document.js';
import type { OnChange } from '../documents/change.js';
import { jsonLine, type AccessDifference, type ChangeAction } from './entry.js';
import type { AuditLog } from './audit-log.js';
import { currentNotes } from './notes.js';

/** The number of users of a list that are named. */
const MAX_USERS = 1_000;
/** The length of ids, as they are written, up to which users of all lists of a line are named. */
const MAX_LENGTH = 16_384;
/** The list with the most rights is named first. */
const LISTS = [...ACCESS_LISTS].reverse();

const ABOUT_ACCESS: readonly ChangeAction[] = ['document.created', 'document.shared', 'document.given'];

/** Writes a line for each change of a document that its users would notice. */
export const auditChanges =
  (log: Pick<AuditLog, 'write'>): OnChange =>
  (before, after) => {
    const known = after ?? before;
    if (!known) return;
    const access = after ? differenceOf(before, after) : undefined;
    for (const action of actionsOf(before, after, access)) {
      const notes = currentNotes();
      log.write({
        type: 'change',
        action,
        // New documents of several requests of a caller are written together, by one of them. Each request names its own.
        request: before ? notes?.requestId : undefined,
        caller: notes?.callerId ?? undefined,
        documents: [known.id],
        owner: known.ownerId,
        version: known.version,
        access: ABOUT_ACCESS.includes(action) ? access : undefined,
      });
    }
  };

function actionsOf(
  before: DocumentRecord | null,
  after: DocumentRecord | null,
  access: AccessDifference | undefined,
): ChangeAction[] {
  if (!after) return ['document.removed'];
  if (!before) return ['document.created'];
  const actions: ChangeAction[] = [];
  if (after.version !== before.version) actions.push('document.replaced');
  const ended = endOf(before, after);
  if (ended) actions.push(ended);
  if (isFinished(before) && after.status === 'queued' && after.version === before.version)
    actions.push('document.retried');
  if (isOtherwise(before, after)) actions.push('document.changed');
  if (after.ownerId !== before.ownerId) actions.push('document.given');
  else if (access) actions.push('document.shared');
  return actions;
}

const isFinished = ({ status }: DocumentRecord) => status === 'failed' || status === 'cancelled';

function endOf(before: DocumentRecord, after: DocumentRecord): ChangeAction | null {
  if (after.published && after.published.generation !== before.published?.generation)
    return 'document.published';
  if (after.status === before.status) return null;
  if (after.status === 'failed') return 'document.failed';
  return after.status === 'cancelled' ? 'document.cancelled' : null;
}

/** Tells whether metadata, collections, or the file name of the same content are others. */
function isOtherwise(before: DocumentRecord, after: DocumentRecord): boolean {
  if (after.metadata !== before.metadata || after.collections !== before.collections) return true;
  if (after.version !== before.version) return false;
  return nameOf(before) !== nameOf(after);
}

const nameOf = ({ published, pending }: DocumentRecord) => (pending ?? published)?.filename;

/**
 * Returns the users who came into the lists and went out; undefined where nobody did. The owner of a new document is not
 * named.
 */
function differenceOf(before: DocumentRecord | null, after: DocumentRecord): AccessDifference | undefined {
  const difference: AccessDifference = {};
  const room = { left: MAX_LENGTH };
  for (const name of LISTS) {
    // Changes that leave a list alone leave the array itself.
    if (before?.[name] === after[name]) continue;
    const added = without(after[name], before ? before[name] : [after.ownerId]);
    const removed = before ? without(before[name], after[name]) : [];
    const all = added.length + removed.length;
    if (all === 0) continue;
    const named = { added: some(added, room), removed: some(removed, room) };
    const more = all - named.added.length - named.removed.length;
    difference[name] = {
      added: unlessEmpty(named.added),
      removed: unlessEmpty(named.removed),
      more: more === 0 ? undefined : more,
    };
  }
  return Object.keys(difference).length === 0 ? undefined : difference;
}

function without(ids: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  return ids.filter((id) => !known.has(id));
}

const unlessEmpty = (ids: string[]): string[] | undefined => (ids.length === 0 ? undefined : ids);

/** The first of the ids, as many as there is room for, which they take. */
function some(ids: readonly string[], room: { left: number }): string[] {
  const named: string[] = [];
  for (const id of ids.slice(0, MAX_USERS)) {
    // Quotes and a comma take as much as the end of the line does here.
    const { length } = jsonLine(id);
    if (length > room.left) break;
    room.left -= length;
    named.push(id);
  }
  return named;
}
