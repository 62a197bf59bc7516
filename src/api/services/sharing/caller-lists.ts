import { canRead, type Principal } from '../../../shared/access/access.js';
import {
  MAX_SHARING_ENTRIES,
  type Shared,
  type SharingLists,
  type SharedViews,
} from '../../../shared/access/sharing.js';
import type { Records } from '../../../shared/documents/records.js';
import { ConflictError, InvalidFieldError } from '../../../shared/errors.js';
import type { RequireRoom } from '../ingest/admission/require-room.js';

/** The choices that a caller has made about documents that others share with them. */
export interface CallerView extends SharingLists {
  /** The choice that holds where a request does not say. */
  readonly standard: Shared;
}

/**
 * The lists of a caller. They are the caller's alone, are never shown to others, and may be changed in the same way again and
 * again. Those that add throw InvalidFieldError for more entries than a list holds, and TryLaterError without room in Redis.
 */
export interface CallerLists {
  read(callerId: string): Promise<CallerView>;
  /** Finds nothing of an owner any more. @throws ConflictError for the caller's own id; so does `acceptOwner` */
  blockOwner(callerId: string, owner: string): Promise<CallerView>;
  unblockOwner(callerId: string, owner: string): Promise<CallerView>;
  /** Accepts all documents of an owner, future ones included. */
  acceptOwner(callerId: string, owner: string): Promise<CallerView>;
  forgetOwner(callerId: string, owner: string): Promise<CallerView>;
  acceptDocument(principal: Principal, documentId: string): Promise<void>;
  forgetDocument(callerId: string, documentId: string): Promise<void>;
}

interface Dependencies {
  readonly sharedViews: Pick<SharedViews, 'read' | 'change' | 'standard'>;
  readonly records: Pick<Records, 'readEach'>;
  readonly room: Pick<RequireRoom, 'forGrowth'>;
}

type Change = (lists: SharingLists) => SharingLists;

export function createCallerLists(parts: Dependencies): CallerLists {
  const { sharedViews, records } = parts;
  const { view, change, add } = createChanges(parts);
  const others = (callerId: string, owner: string) => {
    if (owner === callerId) throw new ConflictError('What is your own is always found');
  };
  return {
    read: async (callerId) => view(await sharedViews.read(callerId)),
    blockOwner: async (callerId, owner) => {
      others(callerId, owner);
      return add(callerId, (lists) => added(removed(lists, 'acceptedOwners', owner), 'blockedOwners', owner));
    },
    unblockOwner: (callerId, owner) => change(callerId, (lists) => removed(lists, 'blockedOwners', owner)),
    acceptOwner: async (callerId, owner) => {
      others(callerId, owner);
      return add(callerId, (lists) => added(removed(lists, 'blockedOwners', owner), 'acceptedOwners', owner));
    },
    forgetOwner: (callerId, owner) => change(callerId, (lists) => removed(lists, 'acceptedOwners', owner)),
    acceptDocument: async (principal, documentId) => {
      const { id: callerId } = principal;
      const { acceptedDocuments: before } = await sharedViews.read(callerId);
      const isFull = before.length >= MAX_SHARING_ENTRIES && !before.includes(documentId);
      // Documents that were deleted or closed meanwhile make room.
      const kept = new Set(isFull ? await readableOf(records, principal, before) : before);
      await add(callerId, (lists) => {
        const left = lists.acceptedDocuments.filter((id) => kept.has(id) || !before.includes(id));
        const isSame = left.length === lists.acceptedDocuments.length;
        return added(isSame ? lists : { ...lists, acceptedDocuments: left }, 'acceptedDocuments', documentId);
      });
    },
    forgetDocument: async (callerId, documentId) => {
      await change(callerId, (lists) => removed(lists, 'acceptedDocuments', documentId));
    },
  };
}

function createChanges({ sharedViews, room }: Dependencies) {
  const view = (lists: SharingLists): CallerView => ({ ...lists, standard: sharedViews.standard });
  const change = async (callerId: string, to: Change) => view(await sharedViews.change(callerId, to));
  return {
    view,
    change,
    /** Each change writes all lists, so that Redis' file grows even where one entry takes the place of another. */
    add: async (callerId: string, to: Change): Promise<CallerView> => {
      const lists = await sharedViews.read(callerId);
      if (to(lists) !== lists) await room.forGrowth('more entries in your lists');
      return change(callerId, to);
    },
  };
}

/** @throws InvalidFieldError */
function added(lists: SharingLists, list: keyof SharingLists, entry: string): SharingLists {
  if (lists[list].includes(entry)) return lists;
  const max = MAX_SHARING_ENTRIES;
  if (lists[list].length >= max) {
    const field = list === 'acceptedDocuments' ? 'document_id' : 'owner';
    const message = `ensure this list has at most ${String(max)} items`;
    throw new InvalidFieldError(field, message, { value: max, of: 'items' }, 'path');
  }
  return { ...lists, [list]: [...lists[list], entry] };
}

const removed = (lists: SharingLists, list: keyof SharingLists, entry: string): SharingLists =>
  lists[list].includes(entry) ? { ...lists, [list]: lists[list].filter((each) => each !== entry) } : lists;

async function readableOf(
  records: Pick<Records, 'readEach'>,
  principal: Principal,
  ids: readonly string[],
): Promise<string[]> {
  const readable: string[] = [];
  for await (const record of records.readEach(ids, principal.id))
    if (record && canRead(principal, record)) readable.push(record.id);
  return readable;
}
