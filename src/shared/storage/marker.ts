import { randomUUID } from 'node:crypto';
import { MissingObjectError, type ObjectStorage } from '../ports.js';
import { defineScript, type Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { sendHeartbeat } from '../redis/heartbeat.js';
import type { DraftObjects } from './draft-objects.js';

/** How often an API announces that it lives, and how long an announcement lasts. */
export const ANNOUNCE_EVERY_MILLISECONDS = 5_000;
const ANNOUNCED_MILLISECONDS = 15_000;
/**
 * How long an announced marker may be out of sight. It is longer than an announcement lasts: an API that died before
 * its storage was emptied or moved must not keep others from starting.
 */
export const PATIENCE_MILLISECONDS = 20_000;

export interface StorageSight {
  /** Storage key of the marker; null before any API has stored one. */
  readonly marker: string | null;
  /** Whether the storage of this process holds it. */
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

/** Sets the marker when it is still the expected one, and no living API sees that, unless the caller did. */
const replaceScript = defineScript<number>(`
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
if ARGV[3] == '0' and redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('SET', KEYS[2], '1', 'PX', ARGV[4])
return 1`);

/**
 * The marker is an object that the API puts into its storage and names in Redis. By it, a process with another storage
 * (a folder of another host, another bucket) notices that before it takes source files for lost.
 */
export function createStorageMarker({ redis, storage, drafts }: MarkerParts) {
  return {
    look: async (): Promise<StorageSight> => {
      const marker = await redis.get(keys.storageMarker);
      if (marker === null) return { marker, isSeen: false, isAnnounced: false };
      const isSeen = await holds(storage, marker);
      // This is asked last, because the API that announces the marker has stored it before.
      const isAnnounced = (await redis.exists(keys.storageMarkerAnnounced)) === 1;
      return { marker, isSeen, isAnnounced };
    },
    /** Announces that an API that sees the marker lives. */
    announce: async (marker: string): Promise<void> => {
      await sendHeartbeat(redis, keys.storageMarkerAnnounced, ANNOUNCED_MILLISECONDS);
      // No record refers to a marker, and the sweeper removes objects that were not announced for days.
      await drafts.announce(marker);
    },
    /**
     * Stores a new marker in place of `old`; null when another API came first.
     * `wasSeen` says that the caller saw the old one.
     */
    replace: async (old: string | null, { wasSeen }: { wasSeen: boolean }): Promise<string | null> => {
      const marker = `markers/${randomUUID()}`;
      await drafts.announce(marker);
      await storage.put(marker, nothing());
      const replaced = await replaceScript.run(redis, {
        keys: [keys.storageMarker, keys.storageMarkerAnnounced],
        // An empty text stands for no marker.
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
  // The object is not empty, since an empty file might be what a full disk left.
  yield await Promise.resolve(Buffer.from('Quire keeps its source files here.\n'));
}
