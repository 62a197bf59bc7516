import { addTo } from '../../shared/at.js';
import type { Shard } from '../postings/shard/shard.js';
import type { AppRules, AppTypes } from './app.js';

/**
 * The documents of one owner. What a caller reads is looked for in the partitions that hold something for them, so that its
 * cost does not grow with the documents of others.
 */
export interface Partition {
  /** The owner whose term statistics count its documents; null for documents that their owners may not read. */
  readonly owner: string | null;
  readonly shard: Shard;
  /** Slots of its documents. */
  readonly documents: ReadonlySet<number>;
}

/** A partition in which a caller may read something. */
export interface ReadablePartition {
  readonly partition: Partition;
  /** True if the caller may read all of its documents. */
  readonly isWhole: boolean;
}

export interface Partitions<App extends AppTypes> {
  /** The documents that count for the statistics of an owner; undefined without any. */
  of(owner: string | null): Partition | undefined;
  readableBy(principal: App['principal']): ReadablePartition[];
  /** Adds a document with this access to the partition of an owner. */
  enter(owner: string | null, accessClass: AccessClass<App>, documentSlot: number): Partition;
  /**
   * Forgets the access of a document, and removes it from the partition.
   * @param documentSlot null when the document stays, with the access of a later `enter`
   */
  leave(partition: Partition, accessClass: AccessClass<App>, documentSlot: number | null): void;
  /** Goes on with the work that is left in the shards. @returns true if none is left */
  compact(isTimeLeft: () => boolean): boolean;
  /** Does the same, only with chunks that fill whole segments. Its work need not be done again when more chunks come. */
  flush(isTimeLeft: () => boolean): boolean;
  /** Notes that there is something to be done in a shard. */
  touch(partition: Partition): void;
}

export type OnDirty = (about: { readonly isFull: boolean }) => void;

interface OwnPartition<App extends AppTypes> extends Partition {
  readonly documents: Set<number>;
  /** The number of documents of each access class. */
  readonly classes: Map<AccessClass<App>, number>;
}

interface PartitionParts<App extends AppTypes> extends Pick<AppRules<App>, 'readersOf'> {
  readonly createShard: () => Shard;
  /** Called when there is something to do for `compact`, and for `flush` if `isFull`. */
  readonly onDirty: OnDirty;
}

interface State<App extends AppTypes> extends PartitionParts<App> {
  readonly all: Map<string | null, OwnPartition<App>>;
  /** By reader: how many access classes of each partition name the reader. */
  readonly readers: Map<string, Map<OwnPartition<App>, number>>;
  readonly dirty: Set<Partition>;
  /** The dirty partitions whose memtable is full. */
  readonly full: Set<Partition>;
}

export function createPartitions<App extends AppTypes>(parts: PartitionParts<App>): Partitions<App> {
  const state: State<App> = {
    ...parts,
    all: new Map(),
    readers: new Map(),
    dirty: new Set(),
    full: new Set(),
  };
  return {
    of: (owner) => state.all.get(owner),
    readableBy: ({ id }) => {
      const named = state.readers.get(id) ?? [];
      return Array.from(named, ([partition, classes]) => ({
        partition,
        isWhole: classes === partition.classes.size,
      }));
    },
    enter: (owner, accessClass, documentSlot) => enter(state, owner, { accessClass, documentSlot }),
    leave: (partition, accessClass, documentSlot) => leave(state, partition, { accessClass, documentSlot }),
    touch: (partition) => {
      state.dirty.add(partition);
      if (partition.shard.isFull) state.full.add(partition);
      state.onDirty({ isFull: state.full.size > 0 });
    },
    flush: (isTimeLeft) => workOff(state.full, isTimeLeft, ({ shard }) => shard.flush(isTimeLeft)),
    compact: (isTimeLeft) => workOff(state.dirty, isTimeLeft, ({ shard }) => shard.compact(isTimeLeft)),
  };
}

/** Works on one partition after the other, each of which leaves the list when it is done. @returns true if all are done */
function workOff(
  left: Set<Partition>,
  isTimeLeft: () => boolean,
  work: (partition: Partition) => boolean,
): boolean {
  for (const partition of left) {
    if (!work(partition)) return false;
    left.delete(partition);
    if (!isTimeLeft()) break;
  }
  return left.size === 0;
}

function enter<App extends AppTypes>(
  state: State<App>,
  owner: string | null,
  { accessClass, documentSlot }: { readonly accessClass: AccessClass<App>; readonly documentSlot: number },
): Partition {
  let partition = state.all.get(owner);
  if (!partition) {
    partition = { owner, shard: state.createShard(), documents: new Set(), classes: new Map() };
    state.all.set(owner, partition);
  }
  partition.documents.add(documentSlot);
  if (addTo(partition.classes, accessClass) === 1)
    for (const reader of state.readersOf(accessClass.access)) count(state, reader, { partition, by: 1 });
  return partition;
}

function leave<App extends AppTypes>(
  state: State<App>,
  { owner }: Partition,
  {
    accessClass,
    documentSlot,
  }: { readonly accessClass: AccessClass<App>; readonly documentSlot: number | null },
): void {
  const partition = state.all.get(owner);
  if (!partition) return;
  if (documentSlot !== null) partition.documents.delete(documentSlot);
  const users = (partition.classes.get(accessClass) ?? 1) - 1;
  if (users > 0) partition.classes.set(accessClass, users);
  else {
    partition.classes.delete(accessClass);
    for (const reader of state.readersOf(accessClass.access)) count(state, reader, { partition, by: -1 });
  }
  if (partition.documents.size > 0) return;
  partition.shard.close();
  state.all.delete(owner);
  state.dirty.delete(partition);
  state.full.delete(partition);
}

function count<App extends AppTypes>(
  { readers }: State<App>,
  reader: string,
  { partition, by }: { readonly partition: OwnPartition<App>; readonly by: 1 | -1 },
): void {
  const named = readers.get(reader) ?? new Map<OwnPartition<App>, number>();
  if (addTo(named, partition, by) <= 0) named.delete(partition);
  if (named.size > 0) readers.set(reader, named);
  else readers.delete(reader);
}

/** The access of documents that have the same, so that it is decided once for all of them. */
export interface AccessClass<App extends AppTypes = AppTypes> {
  readonly id: number;
  readonly key: string;
  readonly access: App['access'];
}

/** Shares access: documents with the same have one class, which exists as long as a document has it. */
export interface AccessClasses<App extends AppTypes> {
  /** @param key text that is equal for equal access */
  acquire(key: string, access: App['access']): AccessClass<App>;
  release(accessClass: AccessClass<App>): void;
}

export function createAccessClasses<App extends AppTypes>(): AccessClasses<App> {
  const classes = new Map<string, { readonly accessClass: AccessClass<App>; users: number }>();
  let nextId = 0;
  return {
    acquire: (key, access) => {
      let entry = classes.get(key);
      if (!entry) {
        entry = { accessClass: { id: nextId, key, access }, users: 0 };
        nextId += 1;
        classes.set(key, entry);
      }
      entry.users += 1;
      return entry.accessClass;
    },
    release: ({ key }) => {
      const entry = classes.get(key);
      if (!entry) return;
      entry.users -= 1;
      if (entry.users === 0) classes.delete(key);
    },
  };
}
