import { randomUUID } from 'node:crypto';
import { MissingObjectError, type ObjectStorage } from '../ports.js';
import { defineScript, type Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { sendHeartbeat } from '../redis/heartbeat.js';
import type { DraftObjects } from './draft-objects.js';

/** How often an API says that it is there, and when it is taken for gone. */
export const ANNOUNCE_EVERY_MILLISECONDS = 5_000;
const ANNOUNCED_MILLISECONDS = 15_000;
/**
 * How long a marker that is announced may stay out of sight. Longer than an announcement lasts: one that an API left
 * when it died, before its storage was emptied or moved, must not be held against anyone.
 */
export const PATIENCE_MILLISECONDS = 20_000;

export interface StorageSight {
  /** Storage key of the marker; null before any API has put one. */
  readonly marker: string | null;
  /** Whether this process's storage holds it. */
  readonly isSeen: boolean;
  /** Whether an API that sees it lives. */
  readonly isAnnounced: boolean;
}

interface MarkerParts {
  readonly redis: Redis;
  readonly storage: ObjectStorage;
  readonly drafts: DraftObjects;
}

export type StorageMarker = ReturnType<typeof createStorageMarker>;

/** Sets the marker if it is still the expected one, and no living API sees that unless we did. */
const replaceScript = defineScript<number>(`
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
if ARGV[3] == '0' and redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('SET', KEYS[2], '1', 'PX', ARGV[4])
return 1`);

/**
 * An object that the API puts into its storage and names in Redis, so that a process with another storage (a folder of
 * another host, another bucket) notices it before it takes source files for lost.
 */
export function createStorageMarker({ redis, storage, drafts }: MarkerParts) {
  return {
    look: async (): Promise<StorageSight> => {
      const marker = await redis.get(keys.storageMarker);
      if (marker === null) return { marker, isSeen: false, isAnnounced: false };
      const isSeen = await holds(storage, marker);
      // Asked last: the API that announces it has put it there before.
      const isAnnounced = (await redis.exists(keys.storageMarkerAnnounced)) === 1;
      return { marker, isSeen, isAnnounced };
    },
    /** Says that an API that sees the marker lives. */
    announce: async (marker: string): Promise<void> => {
      await sendHeartbeat(redis, keys.storageMarkerAnnounced, ANNOUNCED_MILLISECONDS);
      // No record refers to a marker: the sweeper removes those that nobody has announced for days.
      await drafts.announce(marker);
    },
    /** Puts a new marker in place of `old`; null when another API came first. `wasSeen`: we saw the old one before. */
    replace: async (old: string | null, { wasSeen }: { wasSeen: boolean }): Promise<string | null> => {
      const marker = `markers/${randomUUID()}`;
      await drafts.announce(marker);
      await storage.put(marker, nothing());
      const replaced = await replaceScript.run(redis, {
        keys: [keys.storageMarker, keys.storageMarkerAnnounced],
        // Empty text where there was none.
        arguments: [old ?? '', marker, wasSeen ? '1' : '0', String(ANNOUNCED_MILLISECONDS)],
      });
      if (replaced === 1) return marker;
      await storage.remove(marker);
      await drafts.forget(marker);
      return null;
    },
  };
}

async function holds(storage: ObjectStorage, key: string): Promise<boolean> {
  try {
    await storage.open(key);
    return true;
  } catch (error) {
    if (error instanceof MissingObjectError) return false;
    throw error;
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // An empty file could be what a full disk left.
  yield await Promise.resolve(Buffer.from('Quire keeps its source files here.\n'));
}
