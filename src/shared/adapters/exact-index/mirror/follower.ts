import { randomUUID } from 'node:crypto';
import { createLoader, type Report } from './loader.js';
import type { Mirror } from './mirror.js';
import type { Changes, MirrorClient } from './client.js';

/** Deletions leave the change log after a day: a mirror that slept for half of one starts over. */
const MAX_SLEEP_MS = 12 * 60 * 60 * 1000;
/** Beginnings of one sync: naming a data set and starting it take two. */
const MAX_BEGINNINGS = 5;

/** Keeps a mirror equal to Redis by its change log. */
export interface Follower {
  /** Reads all changes up to now. @throws what Redis rejects with */
  sync(): Promise<void>;
  /** The next sync starts from nothing: Redis may have lost what this mirror has seen. */
  startOver(): void;
}

interface Position {
  readonly epoch: string;
  /** Number of the last change that the mirror has. */
  sequence: number;
  /** What the data set's counter was when the mirror had all changes; null while it never had. */
  counted: number | null;
}

interface FollowerOptions {
  readonly client: MirrorClient;
  readonly mirror: Mirror;
  readonly report: Report;
  /** Called when the mirror was emptied, and when it is whole again. */
  readonly onState: (state: 'loading' | 'ready') => void;
}

interface Following extends FollowerOptions {
  readonly load: (documentIds: readonly string[]) => Promise<void>;
  /** The data set that the mirror has, and the last change in it; null while it has none. */
  position: Position | null;
  syncedAt: number;
}

export function createFollower(options: FollowerOptions): Follower {
  const following: Following = {
    ...options,
    load: createLoader(options),
    position: null,
    syncedAt: Date.now(),
  };
  return {
    sync: async () => {
      const asked = Date.now();
      const isRecent = asked - following.syncedAt <= MAX_SLEEP_MS;
      if (isRecent && (await isCurrent(following))) following.syncedAt = asked;
      else await readOn(following);
    },
    startOver: () => {
      following.position = null;
    },
  };
}

/** Whether nothing has changed since all changes were read: one small question, asked before every answer. */
async function isCurrent(following: Following): Promise<boolean> {
  const { client, position } = following;
  if (position?.counted == null) return false;
  const { epoch, sequence } = await client.readHead();
  // `startOver` may have been called meanwhile.
  return following.position === position && epoch === position.epoch && sequence === position.counted;
}

/** Reads pages of changes until the mirror is whole. */
async function readOn(following: Following): Promise<void> {
  for (let beginnings = 0, isWhole = false; !isWhole;) {
    const started = Date.now();
    const isTooOld = started - following.syncedAt > MAX_SLEEP_MS;
    const changes = await following.client.readChanges(following.position?.sequence ?? 0);
    const { position } = following;
    if (position && !isTooOld && continues(changes, position)) {
      isWhole = await apply(following, changes, position);
      if (isWhole) following.syncedAt = started;
      continue;
    }
    following.syncedAt = started;
    beginnings += 1;
    if (beginnings > MAX_BEGINNINGS) throw new Error('the change log never continues: is its counter lost?');
    await begin(following, changes.epoch);
  }
}

/** Empties the mirror for a data set, which gets a name if it has none. */
async function begin(following: Following, epoch: string | null): Promise<void> {
  following.position = null;
  following.onState('loading');
  following.mirror.clear();
  if (epoch === null) await following.client.nameDataSet(randomUUID());
  else following.position = { epoch, sequence: 0, counted: null };
}

/** Takes over a page of changes. @returns whether the mirror is whole then */
async function apply(following: Following, changes: Changes, position: Position): Promise<boolean> {
  await following.load(changes.entries.map(({ documentId }) => documentId));
  // `startOver` may have been called meanwhile.
  if (following.position !== position) return false;
  position.sequence = changes.entries.at(-1)?.sequence ?? position.sequence;
  if (!changes.isLastPage) return false;
  // Read before the entries: all that it has counted are among them.
  position.counted = changes.sequence;
  following.onState('ready');
  return true;
}

/** Whether these changes follow upon what was seen, in the same data set. */
function continues(changes: Changes, position: { epoch: string; sequence: number }): boolean {
  return changes.epoch === position.epoch && changes.sequence >= position.sequence;
}
