import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { IncompatibleDataError, UnavailableError } from '../errors.js';
import type { Logger } from '../observability/logger.js';
import { MissingObjectError, type ObjectStorage } from '../ports.js';
import { toUnavailable, type Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { sendHeartbeat } from '../redis/lease.js';
import { declareScript } from '../redis/script.js';
import { repeat } from '../tools/repeat.js';
import type { DraftObjects } from './sources.js';

const ANNOUNCED_MILLISECONDS = 15_000;

/** The place of the marker: in this process's storage, in another one that a running API uses, or in none that is used. */
export type MarkerPlace = 'here' | 'elsewhere' | 'nowhere';

/**
 * An object that an API puts into its storage and names in Redis. By it, a process with another storage (a folder of
 * another host, another bucket) notices that before it takes source files for lost.
 */
export interface StorageMarker {
  look(): Promise<MarkerPlace>;
  /**
   * Announces for a while that an API with this storage runs. Puts a new marker into it when the marker is nowhere, or
   * when this process has seen it here before. It never resolves with 'nowhere'.
   */
  claim(): Promise<MarkerPlace>;
}

interface MarkerParts {
  readonly redis: Redis;
  readonly storage: ObjectStorage;
  readonly drafts: DraftObjects;
}

/** Sets the marker when it is still the expected one, and no living API sees that, unless the caller did. */
const replaceScript = declareScript({
  keys: { marker: 'key', announced: 'key' },
  args: { old: 'optional', next: 'text', wasHere: 'text', milliseconds: 'text' },
}).lua<number>(`
if (redis.call('GET', marker) or '') ~= old then return 0 end
if wasHere == '0' and redis.call('EXISTS', announced) == 1 then return 0 end
redis.call('SET', marker, next)
redis.call('SET', announced, '1', 'PX', milliseconds)
return 1`);

export function createStorageMarker(parts: MarkerParts): StorageMarker {
  const { redis, storage } = parts;
  /** The marker that was last seen here. */
  let seen: string | null = null;
  const find = async () => {
    const name = await redis.get(keys.storageMarker);
    if (name === null) return { name, place: 'nowhere' } as const;
    if (await holds(storage, name)) return { name, place: 'here' } as const;
    // This is asked last, because the API that announces the marker has stored it before.
    const isAnnounced = (await redis.exists(keys.storageMarkerAnnounced)) === 1;
    return { name, place: isAnnounced ? 'elsewhere' : 'nowhere' } as const;
  };
  return {
    look: async () => (await find()).place,
    claim: async () => {
      for (;;) {
        const { name, place } = await find();
        if (place === 'here') {
          await sendHeartbeat(redis, keys.storageMarkerAnnounced, ANNOUNCED_MILLISECONDS);
          seen = name;
          return 'here';
        }
        const wasHere = name !== null && name === seen;
        if (place === 'elsewhere' && !wasHere) return 'elsewhere';
        const placed = await replace(parts, name, { wasHere });
        // Otherwise another API was faster, and the next look shows whether it uses the same storage.
        if (placed === null) continue;
        seen = placed;
        return 'here';
      }
    },
  };
}

/** Stores a new marker in place of `old`; null when another API came first. */
async function replace(
  { redis, storage, drafts }: MarkerParts,
  old: string | null,
  { wasHere }: { readonly wasHere: boolean },
): Promise<string | null> {
  const marker = `markers/${randomUUID()}`;
  // The sweeper removes it if we crash now, and keeps the marker that is named in Redis.
  await drafts.announce(marker);
  await storage.put(marker, content());
  const replaced = await replaceScript.run(redis, {
    keys: { marker: keys.storageMarker, announced: keys.storageMarkerAnnounced },
    args: {
      old,
      next: marker,
      wasHere: wasHere ? '1' : '0',
      milliseconds: ANNOUNCED_MILLISECONDS,
    },
  });
  if (replaced === 1) return marker;
  await storage.remove(marker);
  await drafts.forget(marker);
  return null;
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

async function* content(): AsyncGenerator<Uint8Array> {
  // The object is not empty, since a full disk might leave an empty file.
  yield await Promise.resolve(Buffer.from('Quire keeps its source files here.\n'));
}

const LOOK_EVERY_MILLISECONDS = 5_000;
const AGAIN_MILLISECONDS = 500;
/** A process that starts at the same time needs less. */
const LONG_MILLISECONDS = 10_000;
/**
 * The time for which the marker of a running API may be elsewhere. It is longer than an announcement lasts: an API that
 * died before its storage was emptied or moved must not keep others from starting.
 */
const PATIENCE_MILLISECONDS = 20_000;

export interface MarkerSight {
  /** Null while Redis or the storage is unavailable. */
  readonly place: MarkerPlace | null;
  /** True if it has been elsewhere for so long that it will not come here any more. */
  readonly isLost: boolean;
}

interface FollowOptions {
  readonly look: () => Promise<MarkerPlace>;
  /** Tells whether the process may start where it sees the marker so. */
  readonly mayStart: (sight: MarkerSight) => boolean;
  /** Called with each later look. */
  readonly onLook: (sight: MarkerSight) => void;
  /** Says that an API keeps source files elsewhere, and how to mend that. */
  readonly message: string;
  readonly logger: Logger;
  readonly signal?: AbortSignal;
}

/**
 * Waits until the process may start, and looks for the marker again and again from then on.
 * @returns a function that ends this
 * @throws IncompatibleDataError when the marker of a running API is elsewhere
 */
export async function followMarker(options: FollowOptions): Promise<() => void> {
  const { mayStart, onLook, message, logger, signal } = options;
  const look = createPatientLook(options);
  const since = performance.now();
  let hasTold = false;
  for (let sight = await look(); !mayStart(sight); sight = await look()) {
    if (sight.isLost) throw new IncompatibleDataError(message);
    if (!hasTold && performance.now() - since > LONG_MILLISECONDS) {
      logger.info('waiting for the marker of the object storage');
      hasTold = true;
    }
    await sleep(AGAIN_MILLISECONDS, undefined, signal ? { signal } : {});
  }
  return repeat(async () => onLook(await look()), {
    everyMilliseconds: LOOK_EVERY_MILLISECONDS,
    onError: (error) => {
      logger.error({ err: error }, 'looking for the marker of the object storage failed');
    },
  });
}

function createPatientLook({ look, logger }: Pick<FollowOptions, 'look' | 'logger'>) {
  let elsewhereSince: number | null = null;
  let isAway = false;
  const lookUnlessAway = async () => {
    try {
      const place = await look();
      isAway = false;
      return place;
    } catch (thrown) {
      const error = toUnavailable(thrown);
      if (!(error instanceof UnavailableError)) throw error;
      if (!isAway) logger.warn({ err: error }, 'the marker of the object storage cannot be looked for');
      isAway = true;
      return null;
    }
  };
  return async (): Promise<MarkerSight> => {
    const place = await lookUnlessAway();
    elsewhereSince = place === 'elsewhere' ? (elsewhereSince ?? performance.now()) : null;
    const isLost = elsewhereSince !== null && performance.now() - elsewhereSince > PATIENCE_MILLISECONDS;
    return { place, isLost };
  };
}

interface AnnounceOptions {
  readonly marker: StorageMarker;
  readonly storage: ObjectStorage;
  /** The advice when this API and another do not use the same storage. */
  readonly advice: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * Marks our storage as the one that holds the source files, so that workers and other APIs can check theirs. Returns the
 * storage, whose `check` now also fails when another running API uses a different one, and `close`, which ends the
 * announcements.
 * @throws IncompatibleDataError when another running API keeps its source files elsewhere
 */
export async function announceStorage({ marker, storage, advice, logger, signal }: AnnounceOptions) {
  const message = `another API keeps source files elsewhere: ${advice}`;
  let isElsewhere = false;
  const onLook = ({ place }: MarkerSight) => {
    if (place === null) return;
    if (place === 'elsewhere' && !isElsewhere) logger.error(message);
    isElsewhere = place === 'elsewhere';
  };
  const mayStart = ({ place }: MarkerSight) => place !== 'elsewhere';
  const close = await followMarker({ look: () => marker.claim(), mayStart, onLook, message, logger, signal });
  const check = async () => {
    if (isElsewhere) throw new UnavailableError('object storage');
    await storage.check();
  };
  return { storage: { ...storage, check }, close };
}
