import { randomUUID } from 'node:crypto';
import type { OnProblem } from '../../../ports.js';
import { createLoader } from './loader.js';
import type { Mirror } from './mirror.js';
import type { Changes, MirrorClient } from './client.js';

/** Deletions leave the change log after a day, so a mirror that was not synced for half of that starts over. */
const MAX_SLEEP_MS = 12 * 60 * 60 * 1000;
/** A sync may begin this often. Naming a new data set and then loading it are two beginnings. */
const MAX_BEGINNINGS = 5;

/** Keeps a mirror equal to Redis by reading its change log. */
export interface Follower {
  /** Takes over all changes up to now. @throws what Redis rejects with */
  sync(): Promise<void>;
  /** Makes the next sync load everything, because Redis may have lost what this mirror has seen. */
  startOver(): void;
}

interface Position {
  readonly epoch: string;
  /** Number of the last change that the mirror has. */
  sequence: number;
  /** The data set's counter when the mirror last had all changes; null before that. */
  counted: number | null;
}

interface FollowerOptions {
  readonly client: MirrorClient;
  readonly mirror: Mirror;
  readonly report: OnProblem;
  /** Called with `loading` when the mirror is emptied, and with `ready` when it has all changes. */
  readonly onState: (state: 'loading' | 'ready') => void;
}

interface Following extends FollowerOptions {
  readonly load: (documentIds: readonly string[]) => Promise<void>;
  /** Which data set the mirror holds and how far it has come; null while it holds none. */
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

/** Whether nothing has changed since the last sync. This is one cheap command, sent before every answer. */
async function isCurrent(following: Following): Promise<boolean> {
  const { client, position } = following;
  if (position?.counted == null) return false;
  const { epoch, sequence } = await client.readHead();
  // `startOver` may have been called meanwhile.
  return following.position === position && epoch === position.epoch && sequence === position.counted;
}

/** Takes over pages of changes until none is left. */
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

/** Empties the mirror to load a data set, which gets a name if it has none. */
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
  // The counter was read before the entries, so that all changes it has counted are among them.
  position.counted = changes.sequence;
  following.onState('ready');
  return true;
}

/** Whether these changes continue what the mirror has seen of the same data set. */
function continues(changes: Changes, position: { epoch: string; sequence: number }): boolean {
  return changes.epoch === position.epoch && changes.sequence >= position.sequence;
}
