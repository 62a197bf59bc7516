import { makeMarker, type Content } from './contents.js';
import { createRegister, holds, type Register, type Write } from './register.js';

/** The document that the service must have when all is quiet, as far as its answers tell; see `register.ts`. */
export interface ModelDocument {
  readonly id: string;
  readonly owner: string;
  /** A value of its metadata that no other document has, and that never changes. */
  readonly key: string;
  readonly contents: Register<Content>;
  /** Tick at which a content was first known to be published. */
  readonly publishedAt: Map<Content, number>;
  readonly metadata: Register<number>;
  readonly access: Register<Access>;
  readonly removal: Register<true>;
  /** Ticks at which a cancel began: content that was being ingested then may never be published. */
  readonly cancels: Register<true>;
  readonly retries: Register<true>;
  /** The largest versions seen, with the tick of the answer. */
  readonly seen: { tick: number; version: number; published: number }[];
}

export interface Access {
  readonly readers: readonly string[];
  readonly writers: readonly string[];
}

/** An ingest whose answer never came: there may be a document of it, or not. */
export interface LostIngest {
  readonly owner: string;
  readonly content: Content;
  readonly key: string;
  readonly access: Access;
  readonly metadata: number;
}

/** The holder of a marker: a document, or an ingest that has not been answered. */
export interface Marked {
  readonly content: Content;
  readonly of: ModelDocument | LostIngest;
}

export interface ModelCache {
  readonly owner: string;
  readonly name: string;
  readonly exists: Register<boolean>;
}

export type World = ReturnType<typeof createWorld>;

const NO_BYTES = new Uint8Array();

export function createWorld() {
  const documents = new Map<string, ModelDocument>();
  const markers = new Map<string, Marked>();
  const lost: LostIngest[] = [];
  const caches = new Map<string, ModelCache>();
  /** Ids of documents that were deleted long ago. */
  const retired = new Set<string>();
  let contentCount = 0;
  return {
    documents,
    retired,
    lost,
    caches,
    markers,
    nextMarker: () => makeMarker((contentCount += 1)),
    /** Before a content is sent: names the document or cache that its marker stands for. */
    introduce: (content: Content, of: Marked['of']): void => {
      markers.set(content.marker, { content, of });
    },
    adopt: (document: ModelDocument): void => {
      documents.set(document.id, document);
      for (const { value } of document.contents.writes)
        markers.set(value.marker, { content: value, of: document });
    },
    /** Takes leave of a document that is known to be gone, so that a long run does not grow: its words stay forbidden. */
    retire: (document: ModelDocument): void => {
      documents.delete(document.id);
      retired.add(document.id);
      for (const { value } of document.contents.writes) value.bytes = NO_BYTES;
    },
    documentsOf: (caller: string): ModelDocument[] =>
      [...documents.values()].filter(({ owner }) => owner === caller),
    cache: (owner: string, name: string): ModelCache => {
      const key = `${owner}/${name}`;
      const known = caches.get(key) ?? { owner, name, exists: createRegister<boolean>() };
      caches.set(key, known);
      return known;
    },
  };
}

/**
 * Makes a document whose ingest was answered: its registers hold the content, access and metadata that it was ingested
 * with.
 */
export function modelDocument(
  { owner, key, content, access, metadata }: LostIngest,
  { id, start, end }: { readonly id: string; readonly start: number; readonly end: number },
): ModelDocument {
  const written = <Value>(value: Value): Register<Value> => {
    const register = createRegister<Value>();
    Object.assign(register.begin(value, start), { end, outcome: 'done' });
    return register;
  };
  return {
    id,
    owner,
    key,
    contents: written(content),
    publishedAt: new Map(),
    metadata: written(metadata),
    access: written(access),
    removal: createRegister(),
    cancels: createRegister(),
    retries: createRegister(),
    seen: [],
  };
}

const ANY_TIME = Infinity;

/** Tells whether a caller may read (or write) a document at some time between two ticks. */
export function may(
  right: 'read' | 'write',
  caller: string,
  { document, start, end }: { document: ModelDocument; start: number; end: number },
): 'always' | 'sometimes' | 'never' {
  if (caller === document.owner) return 'always';
  return holds(
    document.access.possible(start, end),
    ({ readers, writers }) => writers.includes(caller) || (right === 'read' && readers.includes(caller)),
  );
}

/** Tells whether a document exists between two ticks. */
export function exists(
  document: ModelDocument,
  { start, end }: { start: number; end: number },
): 'always' | 'sometimes' | 'never' {
  const removals = document.removal.writes.filter((each) => each.outcome !== 'undone' && each.start < end);
  if (removals.some((each) => each.outcome === 'done' && each.end < start)) return 'never';
  return removals.every((each) => cameTooLate(document, each)) ? 'always' : 'sometimes';
}

/**
 * Tells whether a removal came too late: one without an answer has failed for good once a change that began after it was
 * acknowledged.
 */
function cameTooLate({ contents, metadata, access }: ModelDocument, removal: Write<true>): boolean {
  if (removal.outcome === 'done') return false;
  const changes = [...contents.writes, ...metadata.writes, ...access.writes];
  return changes.some((each) => each.outcome === 'done' && each.start > removal.end);
}

/** Contents that searches may answer from between two ticks. */
export function visibleContents(
  document: ModelDocument,
  { start, end }: { start: number; end: number },
): Content[] {
  const { writes } = document.contents;
  const published = writes.filter(({ value }) => (document.publishedAt.get(value) ?? ANY_TIME) < start);
  const latest = Math.max(-1, ...published.map((each) => each.start));
  return writes
    .filter((write) => write.outcome !== 'undone' && write.start < end && write.end >= latest)
    .map(({ value }) => value);
}
