import {
  callerOf,
  knownGaps,
  laterRevision,
  type Carried,
  type Content,
  type DocumentRecord,
} from '../../document.js';
import type { Change } from '../change.js';

/*
 * The life of documents that are made of attachments. The record of the document that carries them names all of them before
 * any is there, and until the last is gone, so that none is ever lost or left behind.
 */

/** The fields that say which work on documents of attachments is left. */
export interface WithAttachmentWork extends Pick<DocumentRecord, 'id' | 'replacedAttachments'> {
  readonly published: Pick<Content, 'carried'> | null;
}

export const removalsOf = ({ replacedAttachments }: Pick<WithAttachmentWork, 'replacedAttachments'>) =>
  replacedAttachments?.removals ?? [];

/** The attachments of the published content that wait for room. */
export const waitingOf = ({ published }: Pick<WithAttachmentWork, 'published'>): readonly string[] =>
  published?.carried?.waiting ?? [];

export const hasAttachmentWork = (record: Omit<WithAttachmentWork, 'id'>): boolean =>
  removalsOf(record).length > 0 || waitingOf(record).length > 0;

/** Notes the documents that are made of the pending content's attachments. The documents of former contents stay named. */
export function noteCarried(
  record: DocumentRecord,
  { ids, waiting }: Pick<Carried, 'ids' | 'waiting'>,
): Change | null {
  const { pending } = record;
  if (!pending) return null;
  const carried = { ids, waiting, missed: [], callerId: callerOf(record) };
  const attachments = [...new Set([...(record.attachments ?? []), ...ids])];
  return { record: { ...record, attachments, pending: { ...pending, carried } } };
}

/**
 * The fields that change when the pending content is published: all documents of former contents are removed from then on,
 * by the right of the caller who has replaced them.
 */
export function replaceAttachments(
  record: DocumentRecord,
): Partial<Pick<DocumentRecord, 'replacedAttachments'>> {
  const own = new Set(record.pending?.carried?.ids);
  const left = removalsOf(record).filter(({ id }) => !own.has(id));
  const known = new Set(left.map(({ id }) => id));
  const callerId = callerOf(record);
  const former = (record.attachments ?? []).filter((id) => !own.has(id) && !known.has(id));
  const removals = [...left, ...former.map((id) => ({ id, callerId }))];
  // The extraction names the documents that stayed, until content that was published is replaced.
  const kept = record.published ? [] : (record.replacedAttachments?.kept ?? []);
  if (removals.length + kept.length > 0) return { replacedAttachments: { removals, kept } };
  return record.replacedAttachments ? { replacedAttachments: null } : {};
}

/**
 * Returns the fields that change when unpublished content ends, because it is cancelled or replaced: all documents of its
 * attachments are removed from then on, by the right of the caller who has ended it. When it is read again, others are
 * made, whether or not all of these are gone by then.
 */
export function takeBackAttachments(
  record: DocumentRecord,
  callerId: string,
): Partial<Pick<DocumentRecord, 'pending' | 'replacedAttachments'>> {
  if (!record.pending?.carried) return {};
  const { carried, carriedSeries = 0, ...content } = record.pending;
  const left = removalsOf(record);
  const known = new Set(left.map(({ id }) => id));
  const own = carried.ids.filter((id) => !known.has(id)).map((id) => ({ id, callerId }));
  return {
    pending: { ...content, carriedSeries: carriedSeries + 1 },
    replacedAttachments: { removals: [...left, ...own], kept: record.replacedAttachments?.kept ?? [] },
  };
}

/** Takes documents of replaced contents off the record: they are gone, or stay as documents of their own. */
export function endRemovals(
  record: DocumentRecord,
  { ended, kept }: { readonly ended: readonly string[]; readonly kept: readonly string[] },
): Change | null {
  const done = new Set(ended);
  const removals = removalsOf(record).filter(({ id }) => !done.has(id));
  if (removals.length === removalsOf(record).length) return null;
  const attachments = (record.attachments ?? []).filter((id) => !done.has(id));
  const stayed = [...new Set([...(record.replacedAttachments?.kept ?? []), ...kept])];
  return {
    record: { ...record, attachments, replacedAttachments: { removals, kept: stayed } },
    evenWhenFull: true,
  };
}

/** Tells whether a document of the published content that carried it is still to be made. */
export function isAwaited(record: DocumentRecord, storageKey: string, id: string): boolean {
  return record.published?.storageKey === storageKey && waitingOf(record).includes(id);
}

/** Ends the waiting of attachments. No document can be made of the missed ones; each is a gap. */
export function endWaiting(record: DocumentRecord, { storageKey, ended, missed }: Ended): Change | null {
  const { published } = record;
  const carried = published?.carried;
  if (!carried || published.storageKey !== storageKey) return null;
  const done = new Set([...ended, ...missed]);
  const waiting = carried.waiting.filter((id) => !done.has(id));
  if (waiting.length === carried.waiting.length) return null;
  const lost = missed.filter((id) => carried.waiting.includes(id));
  const changed = { ...carried, waiting, missed: [...carried.missed, ...lost] };
  if (lost.length === 0) return { record: { ...record, published: { ...published, carried: changed } } };
  const gaps = knownGaps(published) + lost.length;
  // Chunks say how many gaps there are, so their tags are written anew.
  const retag = laterRevision(record.revision);
  return { record: { ...record, published: { ...published, carried: changed, gaps }, retag } };
}

/** Has the missed attachments wait again. */
export function retryMissed(record: DocumentRecord): Change | null {
  const { published } = record;
  const carried = published?.carried;
  if (!carried || carried.missed.length === 0) return null;
  const waiting = [...carried.waiting, ...carried.missed];
  const gaps = Math.max(0, knownGaps(published) - carried.missed.length);
  const again = { ...published, carried: { ...carried, waiting, missed: [] }, gaps };
  return { record: { ...record, published: again, retag: laterRevision(record.revision) } };
}

interface Ended {
  readonly storageKey: string;
  readonly ended: readonly string[];
  readonly missed: readonly string[];
}

/** Makes no more documents of waiting attachments, because the document that carries them is about to be removed. */
export function stopWaiting(record: DocumentRecord): Change | null {
  const { published } = record;
  const carried = published?.carried;
  if (!carried || carried.waiting.length === 0) return null;
  const stopped = { ...published, carried: { ...carried, waiting: [] } };
  return { record: { ...record, published: stopped }, evenWhenFull: true };
}
