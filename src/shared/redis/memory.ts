import type { Redis } from './client.js';

/** Bytes of Redis, as it counts them itself against its `maxmemory`. */
export interface MemoryState {
  readonly used: number;
  /** From here on nothing is written that makes Redis grow; infinite where it has no `maxmemory`. */
  readonly share: number;
  /** Its `maxmemory`: from here on it refuses. */
  readonly max: number;
}

/** Looks at the memory of Redis a few times a second at most, however many ask. */
export interface MemoryWatch {
  state(): Promise<MemoryState>;
  /** Whether what makes Redis grow has to wait. */
  isShort(): Promise<boolean>;
  /** Whether Redis refuses commands that need memory, or is about to: queues stand still then. */
  isFull(): Promise<boolean>;
}

const KNOWN_MILLISECONDS = 250;
/** Redis frees and takes memory all the time: so near to its end it is taken for full. */
const FULL_SHARE = 0.99;

/** @param share of `maxmemory` that may be used up by what grows; the rest is for what removes */
export function createMemoryWatch(redis: Redis, share: number): MemoryWatch {
  let last: { readonly at: number; readonly state: Promise<MemoryState> } | null = null;
  const state = () => {
    const now = performance.now();
    if (!last || now - last.at >= KNOWN_MILLISECONDS) last = { at: now, state: look() };
    return last.state;
  };
  const look = async (): Promise<MemoryState> => {
    const info = await redis.info('memory');
    const max = figure(info, 'maxmemory') || Infinity;
    // Buffers of replicas and of the append-only file do not count.
    const used = figure(info, 'used_memory') - figure(info, 'mem_not_counted_for_evict');
    return { used, max, share: share * max };
  };
  return {
    state,
    isShort: async () => {
      const { used, share: limit } = await state();
      return used >= limit;
    },
    isFull: async () => {
      const { used, max } = await state();
      return used >= FULL_SHARE * max;
    },
  };
}

/** A figure that a server does not tell counts as 0. */
function figure(info: string, name: string): number {
  const line = info.split('\r\n').find((each) => each.startsWith(`${name}:`));
  return Number(line?.slice(name.length + 1) ?? 0);
}
