import { randomUUID } from 'node:crypto';
import {
  listsGive,
  type AccessLists,
  type DocumentRight,
  type Principal,
} from '../../../shared/access/access.js';
import { findsOwner, type SharedViews } from '../../../shared/access/sharing.js';
import { noteCollection } from '../../../shared/audit/notes.js';
import { slicesOf } from '../../../shared/batches.js';
import { scopeOf, used, type CollectionRecord } from '../../../shared/collections/collection-record.js';
import {
  idOfPlace,
  type CollectionPage,
  type CollectionPlace,
  type CollectionStore,
} from '../../../shared/collections/collection-store.js';
import {
  ForbiddenError,
  MalformedRecordError,
  NotFoundError,
  TooManyError,
  UnavailableError,
} from '../../../shared/errors.js';
import type { Filter } from '../../../shared/filters/parse.js';
import type { Logger } from '../../../shared/observability/logger.js';
import { toUnavailable } from '../../../shared/redis/client.js';
import { isDocumentId } from '../documents/document-access.js';
import type { RequireRoom } from '../ingest/admission/require-room.js';
import type { RequestContext } from '../request-context.js';

export type NewCollection = Pick<
  CollectionRecord,
  'name' | 'description' | 'metadata' | 'filter' | 'expiresAfterDays'
> & { readonly accessControl: Partial<AccessLists> };

/** Fields that are undefined stay as they are. */
export type CollectionPatch = { readonly [Field in keyof NewCollection]?: NewCollection[Field] | undefined };

export interface CollectionListing extends CollectionPage {
  readonly principal: Principal;
}

export interface ListedCollections {
  /** They are read as they are consumed, a few at a time. There may be fewer than were asked for. */
  readonly records: AsyncIterable<CollectionRecord>;
  /** The place where the list goes on; null at its end. */
  readonly next: CollectionPlace | null;
}

/**
 * Saved scopes that callers search within. All that name one by its id throw NotFoundError for one that is not there, and
 * just the same for one that the caller may not read.
 */
export interface Collections {
  /** The caller becomes the owner, and is added to each list. @throws ConflictError for too many, TryLaterError */
  create(made: NewCollection, context: RequestContext): Promise<CollectionRecord>;
  get(id: string, principal: Principal): Promise<CollectionRecord>;
  /** Lists collections whose lists name the caller, without those of owners whose documents the caller does not find. */
  list(listing: CollectionListing): Promise<ListedCollections>;
  /** @throws ForbiddenError, TryLaterError, TooManyError */
  change(id: string, patch: CollectionPatch, context: RequestContext): Promise<CollectionRecord>;
  /** Removes the collection alone. @throws ForbiddenError */
  remove(id: string, principal: Principal): Promise<void>;
  /** The filter of what is found within a collection, which counts as used by that; null where none is named. */
  scope(id: string | null | undefined, principal: Principal): Promise<Filter | null>;
  /**
   * The collections of new documents that are put into this one, which counts as used by that; undefined where none is named.
   * @throws ForbiddenError
   */
  into(id: string | undefined, principal: Principal): Promise<string[] | undefined>;
}

interface Dependencies {
  readonly store: CollectionStore;
  readonly sharedViews: Pick<SharedViews, 'read' | 'standard'>;
  readonly room: Pick<RequireRoom, 'forGrowth'>;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
}

export function createCollections(parts: Dependencies): Collections {
  const { store, room } = parts;
  const use = createUse(parts);
  return {
    create: async (made, { callerId, reservation }) => {
      await room.forGrowth('collections');
      const id = reservation?.id ?? randomUUID();
      const record = newCollection(made, { id, ownerId: callerId, now: store.now() });
      await store.create(record, reservation);
      return record;
    },
    get: (id, principal) => findCollection(store, { id, principal }),
    list: (listing) => listCollections(parts, listing),
    change: (id, patch, { principal }) => changeCollection(parts, { id, principal, patch }),
    remove: async (id, principal) => {
      await findCollection(store, { id, principal, right: 'write' });
      await store.remove(id);
    },
    scope: async (id, principal) => {
      if (id == null) return null;
      const record = await findCollection(store, { id, principal });
      await use(record);
      return scopeOf(record);
    },
    into: async (id, principal) => {
      if (id === undefined) return undefined;
      await use(await findCollection(store, { id, principal, right: 'write' }));
      return [id];
    },
  };
}

interface Wanted {
  readonly id: string;
  readonly principal: Principal;
  /** To read it, where nothing is said. */
  readonly right?: DocumentRight;
}

/** @throws NotFoundError for a collection that the caller may not read, ForbiddenError where they lack another right */
export async function findCollection(
  store: Pick<CollectionStore, 'read'>,
  { id, principal, right = 'read' }: Wanted,
): Promise<CollectionRecord> {
  noteCollection(id);
  // The ids of collections look like those of documents.
  const record = isDocumentId(id) ? await store.read(id) : null;
  requireCollectionRight(record, { id, principal, right });
  return record;
}

function requireCollectionRight(
  record: CollectionRecord | null,
  { id, principal, right }: Required<Wanted>,
): asserts record is CollectionRecord {
  if (!record || !listsGive(principal, record, 'read')) throw collectionNotFound(id);
  if (!listsGive(principal, record, right)) throw new ForbiddenError('Insufficient permissions');
}

const collectionNotFound = (id: string) => new NotFoundError(`Collection '${id}' not found`);

function newCollection(
  { accessControl, ...fields }: NewCollection,
  { id, ownerId, now }: { readonly id: string; readonly ownerId: string; readonly now: number },
): CollectionRecord {
  const withOwner = (ids: readonly string[] = []) => [...new Set([ownerId, ...ids])];
  const { readers, writers, admins } = accessControl;
  return {
    id,
    ownerId,
    ...fields,
    readers: withOwner(readers),
    writers: withOwner(writers),
    admins: withOwner(admins),
    createdAtMs: now,
    updatedAtMs: now,
    lastActiveAtMs: now,
    revision: 1,
  };
}

interface Changing {
  readonly id: string;
  readonly principal: Principal;
  readonly patch: CollectionPatch;
}

async function changeCollection(
  { store, room }: Dependencies,
  { id, principal, patch }: Changing,
): Promise<CollectionRecord> {
  const right = patch.accessControl ? 'change access' : 'write';
  // The right is checked first, so that the error is the same however full Redis is.
  await findCollection(store, { id, principal, right });
  await room.forGrowth('other fields of collections');
  const changed = await store.update(id, (now) => {
    requireCollectionRight(now, { id, principal, right });
    return patched(now, patch, store.now());
  });
  if (!changed) throw collectionNotFound(id);
  return changed;
}

function patched(
  before: CollectionRecord,
  { accessControl, name, description, metadata, filter, expiresAfterDays }: CollectionPatch,
  now: number,
): CollectionRecord {
  return {
    ...before,
    ...accessControl,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(metadata !== undefined && { metadata }),
    ...(filter !== undefined && { filter }),
    ...(expiresAfterDays !== undefined && { expiresAfterDays }),
    updatedAtMs: now,
    lastActiveAtMs: now,
  };
}

/** Collections that are read at once: each may have some hundred kilobytes of lists. */
const READ_AT_ONCE = 8;

async function listCollections(
  parts: Dependencies,
  { principal, ...page }: CollectionListing,
): Promise<ListedCollections> {
  const { store, sharedViews } = parts;
  const [places, lists] = await Promise.all([
    store.list(principal.id, { ...page, limit: page.limit + 1 }),
    sharedViews.read(principal.id),
  ]);
  const shown = places.slice(0, page.limit);
  const isShown = (record: CollectionRecord | null): record is CollectionRecord =>
    record !== null &&
    listsGive(principal, record, 'read') &&
    findsOwner(principal.id, record.ownerId, { shared: sharedViews.standard, lists });
  return {
    records: readListed(parts, shown, isShown),
    next: places.length > shown.length ? (shown.at(-1) ?? null) : null,
  };
}

async function* readListed(
  parts: Dependencies,
  places: readonly CollectionPlace[],
  isShown: (record: CollectionRecord | null) => record is CollectionRecord,
): AsyncGenerator<CollectionRecord> {
  for (const some of slicesOf(places.map(idOfPlace), READ_AT_ONCE)) {
    const records = await Promise.all(some.map((id) => readUnlessMalformed(parts, id)));
    yield* records.filter(isShown);
  }
}

/** A record that cannot be read hides only its own collection. */
async function readUnlessMalformed(
  { store, logger }: Dependencies,
  id: string,
): Promise<CollectionRecord | null> {
  try {
    return await store.read(id);
  } catch (error) {
    if (!(error instanceof MalformedRecordError)) throw error;
    logger.error({ collectionId: id, err: error }, 'a collection is left out: its record is malformed');
    return null;
  }
}

/** Makes a function that notes the use of a collection, at most once an hour. */
function createUse({ store, logger }: Dependencies): (record: CollectionRecord) => Promise<void> {
  const underWay = new Set<string>();
  return async ({ id, ...record }) => {
    if (underWay.has(id) || !used({ id, ...record }, store.now())) return;
    underWay.add(id);
    try {
      await store.update(id, (now) => used(now, store.now()));
    } catch (thrown) {
      const error = toUnavailable(thrown);
      // The request may be answered all the same, and the next use notes it.
      if (!(error instanceof UnavailableError || error instanceof TooManyError)) throw error;
      logger.warn({ collectionId: id, err: error }, 'the use of a collection was not noted');
    } finally {
      underWay.delete(id);
    }
  };
}
