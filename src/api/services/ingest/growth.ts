import { accessGroupOf } from '../../../shared/access/access-group.js';
import { maxTagBytes } from '../../../shared/chunks/tag-budget.js';
import type { Content, DocumentRecord } from '../../../shared/document.js';
import { documentTags } from '../../../shared/documents/document-tags.js';
import { InvalidFieldError } from '../../../shared/errors.js';
import type { RequireRoom } from './admission.js';

const LISTS = ['readers', 'writers', 'admins'] as const;

/** Whether a change makes Redis keep more than before: all but what only takes away. */
export function grows(before: DocumentRecord, after: DocumentRecord): boolean {
  const isInvited = LISTS.some((list) => {
    const known = new Set(before[list]);
    return after[list].some((id) => !known.has(id));
  });
  return isInvited || describesMore(before, after) || nameBytes(after) > nameBytes(before);
}

function describesMore(before: DocumentRecord, after: DocumentRecord): boolean {
  const [old, wanted] = [JSON.stringify(before.metadata), JSON.stringify(after.metadata)];
  if (old === wanted) return false;
  // Of two values of one length, a number has more tags than a word.
  return wanted.length > old.length || metadataTags(after).length > metadataTags(before).length;
}

const nobody = { readers: [], writers: [], admins: [] };
const metadataTags = (record: DocumentRecord) => documentTags({ ...record, ...nobody });

const nameBytes = ({ published, pending }: DocumentRecord) => bytesOf(published) + bytesOf(pending);
const bytesOf = (content: Content | null) => content?.filename?.length ?? 0;

/**
 * Lets a change of a document's metadata or access in: at any time what only takes away, all else as long as there is
 * room.
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
  const chunks = record.published?.chunkCount ?? 0;
  const most = maxTagBytes(chunks);
  if (documentTags(record).length <= most) return;
  const msg = `its values make more than ${String(most)} bytes of tags, the most for ${String(chunks)} chunks`;
  throw new InvalidFieldError('metadata', msg, { value: most, of: 'bytes' });
}
