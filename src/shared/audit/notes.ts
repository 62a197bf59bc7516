import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import type { RequestAction } from './entry.js';

/** The number of documents that a line lists: as many as the longest search finds. */
export const MAX_DOCUMENTS = 1_000;

/** The notes about a request until its line is written. */
export interface AuditNotes {
  readonly requestId: string;
  action: RequestAction | null;
  callerId: string | null;
  tokenId: string | null;
  userId: string | null;
  /** A digest of its name. */
  cache: string | null;
  /** Its id. */
  collection: string | null;
  readonly documents: Set<string>;
  /** Documents that did not fit any more. Those that an answer names twice count twice. */
  more: number;
}

export const emptyNotes = (requestId: string): AuditNotes => ({
  requestId,
  action: null,
  callerId: null,
  tokenId: null,
  userId: null,
  cache: null,
  collection: null,
  documents: new Set(),
  more: 0,
});

/** There is a request in it only while there is an audit log. */
const scope = new AsyncLocalStorage<AuditNotes>();

/** Whatever runs in `run`, and whatever that waits for, belongs to the request of these notes. */
export const withNotes = <Result>(notes: AuditNotes, run: () => Result): Result => scope.run(notes, run);

export const currentNotes = (): AuditNotes | undefined => scope.getStore();

/** Notes documents that the request at hand reads, where its answer does not name them. */
export function noteDocuments(ids: Iterable<string>): void {
  const notes = scope.getStore();
  if (notes) for (const id of ids) addDocument(notes, id);
}

/** Notes a document. Only texts with the form of an id are noted, since callers choose what they send in its place. */
export function addDocument(notes: AuditNotes, id: string): void {
  if (!ID.test(id) || notes.documents.has(id)) return;
  if (notes.documents.size < MAX_DOCUMENTS) notes.documents.add(id);
  else notes.more += 1;
}

const ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Notes whom else the request at hand is about. */
export function noteUser(id: string): void {
  const notes = scope.getStore();
  if (notes) notes.userId = id;
}

/** Notes the cache that the request at hand is about. */
export function noteCache(name: string): void {
  const notes = scope.getStore();
  if (notes) notes.cache = cacheDigest(name);
}

/** Notes the collection that the request at hand is about. */
export function noteCollection(id: string): void {
  const notes = scope.getStore();
  if (notes && ID.test(id)) notes.collection = id;
}

/** Returns the digest of a cache's name: callers choose names, which may tell the content. */
export const cacheDigest = (name: string): string =>
  createHash('sha256').update(name).digest('hex').slice(0, 16);
