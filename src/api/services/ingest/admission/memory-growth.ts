import { accessGroupOf } from '../../../../shared/access/access.js';
import { maxTagBytes } from '../../../../shared/chunks/fields.js';
import type { Content, DocumentRecord } from '../../../../shared/document.js';
import { ownedWith } from '../../../../shared/documents/counts.js';
import { documentTags } from '../../../../shared/documents/record-fields.js';
import { InvalidFieldError } from '../../../../shared/errors.js';
import type { RequireRoom } from './require-room.js';

const LISTS = ['readers', 'writers', 'admins'] as const;

/** Tells whether a change makes Redis store more than before. */
export function grows(before: DocumentRecord, after: DocumentRecord): boolean {
  const isInvited = LISTS.some((list) => {
    const known = new Set(before[list]);
    return after[list].some((id) => !known.has(id));
  });
  return isInvited || describesMore(before, after) || nameLength(after) > nameLength(before);
}

function describesMore(before: DocumentRecord, after: DocumentRecord): boolean {
  const [old, wanted] = [JSON.stringify(before.metadata), JSON.stringify(after.metadata)];
  if (old === wanted) return false;
  // With the same length of JSON, a number has more tags than a word.
  return wanted.length > old.length || metadataTags(after).length > metadataTags(before).length;
}

const nobody = { readers: [], writers: [], admins: [] };
const metadataTags = (record: DocumentRecord) => documentTags({ ...record, ...nobody });

const nameLength = ({ published, pending }: DocumentRecord) => lengthOf(published) + lengthOf(pending);
const lengthOf = (content: Content | null) => (content?.filename ?? '').length;

/**
 * Checks whether there is memory for a change of a document's metadata or access. A change that only removes something is
 * always allowed.
 * @throws InvalidFieldError when its chunks would hold too much of it, TryLaterError when there is no room
 */
export async function requireRoomFor(
  room: RequireRoom,
  before: DocumentRecord,
  after: DocumentRecord,
): Promise<void> {
  if (grows(before, after)) {
    if (describesMore(before, after)) checkTags(after);
    return room.forGrowth('larger access lists or metadata');
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
