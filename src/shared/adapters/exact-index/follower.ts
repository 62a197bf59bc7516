import { randomUUID } from 'node:crypto';
import { createLoader, type Report } from './loader.js';
import type { Mirror } from './mirror.js';
import type { Changes, ReplicaClient } from './replica-client.js';

/** Deletions leave the change log after a day: a mirror that slept for half of one starts over. */
const LONGEST_SLEEP_MS = 12 * 60 * 60 * 1000;
/** Of one sync: naming a data set and starting it take two. */
const MOST_BEGINNINGS = 5;

/** Keeps a mirror equal to Redis by its change log. */
export interface Follower {
  /** Reads all changes up to now. @throws what Redis rejects with */
  sync(): Promise<void>;
  /** The next sync starts from nothing: Redis may have lost what this mirror has seen. */
  startOver(): void;
}

interface Position {
  readonly epoch: string;
  /** Of the last change that the mirror has. */
  sequence: number;
  /** What the data set's counter was when the mirror had all changes; null while it never had. */
  counted: number | null;
}

export function createFollower(parts: {
  readonly client: ReplicaClient;
  readonly mirror: Mirror;
  readonly report: Report;
  /** Called when the mirror was emptied, and when it is whole again. */
  readonly onState: (state: 'loading' | 'ready') => void;
}): Follower {
  const { client, mirror, onState } = parts;
  const load = createLoader(parts);
  /** The data set that the mirror has, and the last change in it; null while it has none. */
  let position: Position | null = null;
  let syncedAt = Date.now();

  const begin = async (epoch: string | null) => {
    position = null;
    onState('loading');
    mirror.clear();
    if (epoch === null) await client.nameDataSet(randomUUID());
    else position = { epoch, sequence: 0, counted: null };
  };

  /** Whether nothing has changed since all changes were read: one small question, asked before every answer. */
  const isCurrent = async (): Promise<boolean> => {
    const at = position;
    if (at?.counted == null) return false;
    const { epoch, sequence } = await client.readHead();
    // `startOver` may have been called meanwhile.
    return position === at && epoch === at.epoch && sequence === at.counted;
  };

  const sync = async (): Promise<void> => {
    const asked = Date.now();
    if (asked - syncedAt <= LONGEST_SLEEP_MS && (await isCurrent())) {
      syncedAt = asked;
      return;
    }
    for (let beginnings = 0; ;) {
      const started = Date.now();
      const isTooOld = started - syncedAt > LONGEST_SLEEP_MS;
      const changes = await client.readChanges(position?.sequence ?? 0);
      if (!position || isTooOld || !continues(changes, position)) {
        syncedAt = started;
        beginnings += 1;
        if (beginnings > MOST_BEGINNINGS)
          throw new Error('the change log never continues: is its counter lost?');
        await begin(changes.epoch);
        continue;
      }
      const at = position;
      await load(changes.entries.map(({ documentId }) => documentId));
      // `startOver` may have been called meanwhile.
      if (position !== at) continue;
      at.sequence = changes.entries.at(-1)?.sequence ?? at.sequence;
      if (!changes.isLastPage) continue;
      // Read before the entries: all that it has counted are among them.
      at.counted = changes.sequence;
      syncedAt = started;
      onState('ready');
      return;
    }
  };
  return {
    sync,
    startOver: () => {
      position = null;
    },
  };
}

/** Whether these changes follow upon what was seen, in the same data set. */
function continues(changes: Changes, position: { epoch: string; sequence: number }): boolean {
  return changes.epoch === position.epoch && changes.sequence >= position.sequence;
}
