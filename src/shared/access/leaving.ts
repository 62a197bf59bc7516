import type { DocumentRecord } from '../document.js';
import { ConflictError } from '../errors.js';
import type { AccessLists } from './access.js';

/*
 * Who has left a document is kept in its record, with the lists that would name them now. Nobody but themselves can bring
 * them back: what others write into the lists is noted there, and takes effect when they come back.
 */

export const ACCESS_LISTS = ['readers', 'writers', 'admins'] as const;
type Left = NonNullable<DocumentRecord['left']>;

/** The oldest are forgotten beyond this, so that a record stays bounded: as many as three lists name. */
const MAX_LEFT = 3_000;

export const hasLeft = (callerId: string, { left }: Pick<DocumentRecord, 'left'>): boolean =>
  left?.some(({ id }) => id === callerId) ?? false;

/** Who has left an attachment: also who has left the document around it, whose lists it gets. */
export function leftWith(
  attachment: Pick<DocumentRecord, 'left'>,
  around: Pick<DocumentRecord, 'left'>,
): DocumentRecord['left'] {
  const gone = new Set(attachment.left?.map(({ id }) => id));
  const others = (around.left ?? []).filter(({ id }) => !gone.has(id));
  if (others.length === 0) return attachment.left;
  return [...(attachment.left ?? []), ...others.map(({ id }) => ({ id, lists: [] }))];
}

type Changed = Partial<AccessLists> & { readonly left?: Left };

/** The lists without a caller who leaves. @throws ConflictError for who has to stay */
export function withoutCaller(record: DocumentRecord, callerId: string): Changed {
  if (record.ownerId === callerId)
    throw new ConflictError('The owner of a document cannot leave it. The owner can delete it');
  const lists = ACCESS_LISTS.filter((name) => record[name].includes(callerId));
  const others = (name: keyof AccessLists) => record[name].filter((id) => id !== callerId);
  if (others('admins').length === 0)
    throw new ConflictError(
      'The only admin of a document cannot leave it. Name another one first, or delete it',
    );
  const left = [...(record.left ?? []).filter(({ id }) => id !== callerId), { id: callerId, lists }];
  return {
    readers: others('readers'),
    writers: others('writers'),
    admins: others('admins'),
    left: left.slice(-MAX_LEFT),
  };
}

/** The lists with a caller who comes back, as far as they would name the caller. */
export function withCaller(record: DocumentRecord, callerId: string): Changed {
  const lists = record.left?.find(({ id }) => id === callerId)?.lists ?? [];
  const withThem = (name: keyof AccessLists) =>
    lists.includes(name) ? [...record[name], callerId] : record[name];
  return {
    readers: withThem('readers'),
    writers: withThem('writers'),
    admins: withThem('admins'),
    left: (record.left ?? []).filter(({ id }) => id !== callerId),
  };
}

/** Lists that somebody else writes, without those who have left. @throws ConflictError where no admin would remain */
export function withoutLeft({ left }: Pick<DocumentRecord, 'left'>, wanted: Partial<AccessLists>): Changed {
  if (!left || left.length === 0) return {};
  const gone = new Set(left.map(({ id }) => id));
  // Thousands may have left, and each list may name a thousand.
  const named = new Map(ACCESS_LISTS.map((name) => [name, wanted[name] && new Set(wanted[name])]));
  const noted = left.map(({ id, lists }) => ({
    id,
    lists: ACCESS_LISTS.filter((name) => named.get(name)?.has(id) ?? lists.includes(name)),
  }));
  const staying = (name: keyof AccessLists) => {
    const list = wanted[name]?.filter((id) => !gone.has(id));
    return list ? { [name]: list } : {};
  };
  const admins = staying('admins');
  if (admins['admins']?.length === 0)
    throw new ConflictError('All of these admins have left the document, and one has to remain');
  return { ...staying('readers'), ...staying('writers'), ...admins, left: noted };
}
