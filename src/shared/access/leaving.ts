import type { DocumentRecord } from '../document.js';
import { ConflictError } from '../errors.js';
import { canRead, requireRight, type AccessLists, type Principal } from './access.js';

/*
 * The record of a document keeps who has left it, with the lists that would name them now. Nobody but themselves can bring
 * them back: names that others write into the lists are noted there, and take effect when they come back. Lists that are
 * written without them take that from them: their writer sees them in none.
 */

export const ACCESS_LISTS = ['readers', 'writers', 'admins'] as const;
type Left = NonNullable<DocumentRecord['left']>;

type Leaving = Pick<DocumentRecord, 'left' | 'leftUnnoted'>;

type Lists = Leaving & AccessLists & Pick<DocumentRecord, 'ownerId'>;

/**
 * The number of leavers that are noted, as many as three lists name, so that a record stays bounded. See `leftUnnoted` for
 * more.
 */
const MAX_LEFT = 3_000;

export const hasLeft = (callerId: string, { left }: Pick<DocumentRecord, 'left'>): boolean =>
  left?.some(({ id }) => id === callerId) ?? false;

/** @throws ForbiddenError for somebody who may neither read the document nor has left it */
export function requireMembership(principal: Principal, record: DocumentRecord): void {
  if (!hasLeft(principal.id, record)) requireRight(principal, record, 'read');
}

/** Tells whether somebody can leave a document of others, which `withoutCaller` refuses to its owner and its only admin. */
export const canLeave = (principal: Principal, record: DocumentRecord): boolean =>
  record.ownerId !== principal.id &&
  canRead(principal, record) &&
  record.admins.some((id) => id !== principal.id);

/** Returns the leavers of an attachment, including the leavers of the document around it, whose lists it gets. */
export function leftWith(attachment: Leaving, around: Leaving): Leaving {
  const leftUnnoted = attachment.leftUnnoted ?? around.leftUnnoted;
  const gone = new Set(attachment.left?.map(({ id }) => id));
  const others = (around.left ?? []).filter(({ id }) => !gone.has(id));
  if (others.length === 0) return { left: attachment.left, leftUnnoted };
  return { left: [...(attachment.left ?? []), ...others.map(({ id }) => ({ id, lists: [] }))], leftUnnoted };
}

type Changed = Partial<AccessLists> & Partial<Leaving>;

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
  const left = (record.left ?? []).filter(({ id }) => id !== callerId);
  const changed = { readers: others('readers'), writers: others('writers'), admins: others('admins') };
  // To forget somebody else instead would let that one be named again.
  if (left.length >= MAX_LEFT) return { ...changed, leftUnnoted: true };
  return { ...changed, left: [...left, { id: callerId, lists }] };
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

/**
 * Takes everybody who has left out of lists that somebody else writes.
 * @throws ConflictError where no admin would remain, or a named user may have left unnoted
 */
export function withoutLeft(record: Lists, wanted: Partial<AccessLists>): Changed {
  const { left } = record;
  if (namesMore(record, wanted))
    throw new ConflictError(
      `More than ${String(MAX_LEFT)} have left the document: access_control may name nobody whom it does not name now`,
    );
  if (!left || left.length === 0 || ACCESS_LISTS.every((name) => !wanted[name])) return {};
  const gone = new Set(left.map(({ id }) => id));
  // Thousands may have left, and each list may name a thousand.
  const named = new Map(ACCESS_LISTS.map((name) => [name, wanted[name] && new Set(wanted[name])]));
  const isNamed = (id: string) => ACCESS_LISTS.some((name) => named.get(name)?.has(id));
  const listsOf = ({ id, lists }: Left[number]) =>
    ACCESS_LISTS.filter((name) => named.get(name)?.has(id) ?? lists.includes(name));
  const noted = left.map((each) => ({ id: each.id, lists: isNamed(each.id) ? listsOf(each) : [] }));
  const staying = (name: keyof AccessLists) => {
    const list = wanted[name]?.filter((id) => !gone.has(id));
    return list ? { [name]: list } : {};
  };
  const admins = staying('admins');
  if (admins['admins']?.length === 0)
    throw new ConflictError('All of these admins have left the document, and one has to remain');
  return { ...staying('readers'), ...staying('writers'), ...admins, left: noted };
}

/** Returns the same lists, without the names that a document may not inherit. It keeps its admins where none is left. */
export function withoutUnnoted(record: Lists, wanted: Partial<AccessLists>): Partial<AccessLists> {
  if (record.leftUnnoted !== true) return wanted;
  const known = knownTo(record);
  const lists = ACCESS_LISTS.flatMap((name) => {
    const list = wanted[name]?.filter((id) => known.has(id));
    const isMissing = !list || (name === 'admins' && list.length === 0);
    return isMissing ? [] : [[name, list] as const];
  });
  return Object.fromEntries(lists);
}

function namesMore(record: Lists, wanted: Partial<AccessLists>): boolean {
  if (record.leftUnnoted !== true) return false;
  const known = knownTo(record);
  return ACCESS_LISTS.some((name) => wanted[name]?.some((id) => !known.has(id)));
}

/** Whom its lists name, who is known to have left, and its owner, who cannot leave. */
function knownTo(record: Lists): ReadonlySet<string> {
  const named = ACCESS_LISTS.flatMap((name) => record[name]);
  return new Set([record.ownerId, ...named, ...(record.left ?? []).map(({ id }) => id)]);
}
