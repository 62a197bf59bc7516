import type { Shard } from '../postings/shard/shard.js';
import type { AccessClass } from './access-classes.js';

/**
 * The documents of one owner. What a caller reads is looked for in the partitions that hold something for them, so that its
 * cost does not grow with the documents of others.
 */
export interface Partition {
  /** Whose term statistics count its documents; null for those that their owners may not read. */
  readonly owner: string | null;
  readonly shard: Shard;
  /** Slots of its documents. */
  readonly documents: ReadonlySet<number>;
}

/** A partition in which a caller may read something. */
export interface ReadablePartition {
  readonly partition: Partition;
  /** Whether the caller may read all of its documents. */
  readonly isWhole: boolean;
}

export interface Partitions {
  /** The documents that count for the statistics of an owner; undefined without any. */
  of(owner: string | null): Partition | undefined;
  readableBy(callerId: string): ReadablePartition[];
  /** Adds a document with these access lists to the partition of an owner. */
  enter(owner: string | null, access: AccessClass, documentSlot: number): Partition;
  /**
   * Forgets the access lists of a document, and removes it from the partition.
   * @param documentSlot null when the document stays, with the access lists of a later `enter`
   */
  leave(partition: Partition, access: AccessClass, documentSlot: number | null): void;
  /** Goes on with what is left to be done in the shards. @returns whether nothing is left */
  tidy(isTimeLeft: () => boolean): boolean;
  /** The same, only with what fills whole segments. What is done of it while more comes need not be done again. */
  fill(isTimeLeft: () => boolean): boolean;
  /** Notes that there is something to be done in a shard. */
  touch(partition: Partition): void;
}

export type OnUntidy = (about: { readonly isFull: boolean }) => void;

interface OwnPartition extends Partition {
  readonly documents: Set<number>;
  /** How many documents have each access class. */
  readonly classes: Map<AccessClass, number>;
}

interface State {
  readonly createShard: () => Shard;
  readonly all: Map<string | null, OwnPartition>;
  /** By reader: how many access classes of each partition name the reader. */
  readonly readers: Map<string, Map<OwnPartition, number>>;
  readonly untidy: Set<Partition>;
  /** Those of them in which chunks for a whole segment wait. */
  readonly full: Set<Partition>;
}

/** @param onUntidy called when there is something to do for `tidy`, and for `fill` if `isFull` */
export function createPartitions(createShard: () => Shard, onUntidy: OnUntidy): Partitions {
  const state: State = {
    createShard,
    all: new Map(),
    readers: new Map(),
    untidy: new Set(),
    full: new Set(),
  };
  return {
    of: (owner) => state.all.get(owner),
    readableBy: (callerId) => {
      const named = state.readers.get(callerId) ?? [];
      return Array.from(named, ([partition, classes]) => ({
        partition,
        isWhole: classes === partition.classes.size,
      }));
    },
    enter: (owner, access, documentSlot) => enter(state, owner, { access, documentSlot }),
    leave: (partition, access, documentSlot) => leave(state, partition, { access, documentSlot }),
    touch: (partition) => {
      state.untidy.add(partition);
      if (partition.shard.isFull) state.full.add(partition);
      onUntidy({ isFull: state.full.size > 0 });
    },
    fill: (isTimeLeft) => workOff(state.full, isTimeLeft, ({ shard }) => shard.fill(isTimeLeft)),
    tidy: (isTimeLeft) => workOff(state.untidy, isTimeLeft, ({ shard }) => shard.tidy(isTimeLeft)),
  };
}

/** Works on one partition after the other, each of which leaves the list when it is done. @returns whether all are */
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

function enter(
  state: State,
  owner: string | null,
  { access, documentSlot }: { readonly access: AccessClass; readonly documentSlot: number },
): Partition {
  let partition = state.all.get(owner);
  if (!partition) {
    partition = { owner, shard: state.createShard(), documents: new Set(), classes: new Map() };
    state.all.set(owner, partition);
  }
  partition.documents.add(documentSlot);
  const users = partition.classes.get(access) ?? 0;
  partition.classes.set(access, users + 1);
  if (users === 0) for (const reader of readersOf(access)) count(state, reader, { partition, by: 1 });
  return partition;
}

function leave(
  state: State,
  { owner }: Partition,
  { access, documentSlot }: { readonly access: AccessClass; readonly documentSlot: number | null },
): void {
  const partition = state.all.get(owner);
  if (!partition) return;
  if (documentSlot !== null) partition.documents.delete(documentSlot);
  const users = (partition.classes.get(access) ?? 1) - 1;
  if (users > 0) partition.classes.set(access, users);
  else {
    partition.classes.delete(access);
    for (const reader of readersOf(access)) count(state, reader, { partition, by: -1 });
  }
  if (partition.documents.size > 0) return;
  partition.shard.close();
  state.all.delete(owner);
  state.untidy.delete(partition);
  state.full.delete(partition);
}

function readersOf({ lists: { readers, writers, admins } }: AccessClass): Set<string> {
  return new Set([...readers, ...writers, ...admins]);
}

function count(
  { readers }: State,
  reader: string,
  { partition, by }: { readonly partition: OwnPartition; readonly by: 1 | -1 },
): void {
  const named = readers.get(reader) ?? new Map<OwnPartition, number>();
  const classes = (named.get(partition) ?? 0) + by;
  if (classes > 0) named.set(partition, classes);
  else named.delete(partition);
  if (named.size > 0) readers.set(reader, named);
  else readers.delete(reader);
}
