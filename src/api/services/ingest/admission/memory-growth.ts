import { accessGroupOf } from '../../../../shared/access/access.js';
import { maxTagBytes } from '../../../../shared/chunks/fields.js';
import type { Content, DocumentRecord } from '../../../../shared/document.js';
import { ownedWith } from '../../../../shared/documents/counts.js';
import { documentTags } from '../../../../shared/documents/record-fields.js';
import { InvalidFieldError } from '../../../../shared/errors.js';
import type { RequireRoom } from './require-room.js';

const LISTS = ['readers', 'writers', 'admins'] as const;

/**
 * Tells whether a change makes Redis store more than before, or as much of something else: what can be exchanged again and
 * again would fill the file to which Redis appends each change. Whatever becomes shorter is taken.
 */
export function grows(before: DocumentRecord, after: DocumentRecord): boolean {
  return (
    admitsMore(before, after) ||
    describesMore(before, after) ||
    isLongerName(before, after) ||
    joinsMore(before, after)
  );
}

function joinsMore(before: DocumentRecord, after: DocumentRecord): boolean {
  const known = new Set(before.collections);
  return (after.collections ?? []).some((id) => !known.has(id));
}

function admitsMore(before: DocumentRecord, after: DocumentRecord): boolean {
  const isInvited = LISTS.some((list) => {
    const known = new Set(before[list]);
    return after[list].some((id) => !known.has(id));
  });
  // A list that somebody leaves may come in another order, beside others that do.
  if (isInvited || LISTS.some((list) => after[list].length < before[list].length)) return isInvited;
  return LISTS.some((list) => after[list].some((id, i) => id !== before[list][i]));
}

function describesMore(before: DocumentRecord, after: DocumentRecord): boolean {
  const [old, wanted] = [JSON.stringify(before.metadata), JSON.stringify(after.metadata)];
  if (old === wanted) return false;
  // With shorter JSON, a number has more tags than a word.
  return wanted.length >= old.length || metadataTags(after).length > metadataTags(before).length;
}

const nobody = { readers: [], writers: [], admins: [] };
const metadataTags = (record: DocumentRecord) => documentTags({ ...record, ...nobody });

const isLongerName = (before: DocumentRecord, after: DocumentRecord): boolean =>
  (['published', 'pending'] as const).some((content) => {
    const [old, wanted] = [nameOf(before[content]), nameOf(after[content])];
    return wanted !== old && wanted.length >= old.length;
  });
const nameOf = (content: Content | null) => content?.filename ?? '';

/**
 * Checks whether there is memory for a change of a document's metadata, access or collections. A change that only removes something is
 * always allowed.
 * @throws InvalidFieldError when its chunks would hold too much of it, TryLaterError when there is no room
 */
export async function requireRoomFor(
  room: RequireRoom,
  before: DocumentRecord,
  after: DocumentRecord,
): Promise<void> {
  if (grows(before, after)) {
    if (describesMore(before, after) || joinsMore(before, after)) checkTags(after);
    return room.forGrowth('other access lists, metadata, names or collections');
  }
  const group = accessGroupOf(after);
  if (group && group.id !== accessGroupOf(before)?.id) await room.forRevocation();
}

function checkTags(record: DocumentRecord): void {
  const chunks = ownedWith(record).chunks;
  const max = maxTagBytes(chunks);
  if (documentTags(record).length <= max) return;
  const msg = `its values make more than ${String(max)} bytes of tags, the most for ${String(chunks)} chunks`;
  throw new InvalidFieldError('metadata', msg, { value: max, of: 'bytes' });
}
