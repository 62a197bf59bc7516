import type { DiskWatch } from '../disk/disk-watch.js';
import { shareResult } from '../tools/coalesce-runs.js';
import type { Redis } from './client.js';

/** The memory of Redis in bytes, as it counts it itself against its `maxmemory`. */
export interface MemoryState {
  readonly used: number;
  /** The number from which nothing is written that makes Redis grow; infinite without a `maxmemory`. */
  readonly share: number;
  /** The `maxmemory`, from which on Redis refuses writes; infinite without one. */
  readonly max: number;
}

/** The resource that Redis is short of. */
export type Shortage = 'memory' | 'disk';

/** Looks at the room that Redis has, in memory and on its disk, a few times a second at most, however many callers ask. */
export interface MemoryWatch {
  state(): Promise<MemoryState>;
  /**
   * Returns the shortage that writes which make Redis grow have to wait for: of memory, or of the disk on which it keeps
   * its data.
   */
  shortage(): Promise<Shortage | null>;
  /** Tells whether such writes have to wait. */
  isShort(): Promise<boolean>;
  /** Tells whether Redis refuses commands that need memory, or is about to. Queues stand still then. */
  isFull(): Promise<boolean>;
}

const KNOWN_MILLISECONDS = 250;
/** Redis frees and takes memory all the time, so that it counts as full a little before its limit. */
const FULL_SHARE = 0.99;

/**
 * @param share the share of `maxmemory` that growth may use; the rest is for removals
 * @param disk the disk of Redis' data, if it is one of this machine
 */
export function createMemoryWatch(redis: Redis, share: number, disk: DiskWatch | null = null): MemoryWatch {
  const state = shareResult(KNOWN_MILLISECONDS, async (): Promise<MemoryState> => {
    const info = await redis.info('memory');
    const max = figure(info, 'maxmemory') || Infinity;
    // Redis does not count the buffers of replicas and of the append-only file.
    const used = figure(info, 'used_memory') - figure(info, 'mem_not_counted_for_evict');
    return { used, max, share: share * max };
  });
  const shortage = async (): Promise<Shortage | null> => {
    const { used, share: limit } = await state();
    if (used >= limit) return 'memory';
    return (await disk?.isShort()) === true ? 'disk' : null;
  };
  return {
    state,
    shortage,
    isShort: async () => (await shortage()) !== null,
    isFull: async () => {
      const { used, max } = await state();
      return used >= FULL_SHARE * max;
    },
  };
}

/** A figure of `INFO`. One that a server does not tell counts as 0. */
export function figure(info: string, name: string): number {
  const line = info.split('\r\n').find((each) => each.startsWith(`${name}:`));
  return Number(line?.slice(name.length + 1) ?? 0);
}
