import type { DiskState, DiskWatch } from '../../shared/disk/disk-watch.js';
import type { Index, ObjectStorage } from '../../shared/ports.js';
import type { QueueName } from '../../shared/queues/lanes.js';
import type { Redis } from '../../shared/redis/client.js';
import { keys } from '../../shared/redis/keys.js';
import type { LifecyclePhase } from '../lifecycle.js';
import { shareResult } from '../../shared/tools/coalesce-runs.js';

export type ComponentState = 'ready' | 'loading' | 'unavailable';

export interface Readiness {
  readonly ready: boolean;
  /** Bytes that are free on each disk, and below which it takes nothing more. */
  readonly disks: Readonly<Record<string, DiskState>>;
  readonly components: Readonly<Record<string, ComponentState>>;
}

type Check = (signal: AbortSignal) => Promise<ComponentState>;

const CACHED_MILLISECONDS = 1_000;
const TIMEOUT_MILLISECONDS = 2_000;

/** Tells whether every component that a request may need is available. The checks run at most once a second. */
export function createReadiness(
  checks: Readonly<Record<string, Check>>,
  disks: readonly DiskWatch[],
): () => Promise<Readiness> {
  return shareResult(CACHED_MILLISECONDS, () => checkAll(checks, disks));
}

async function checkAll(
  checks: Readonly<Record<string, Check>>,
  watched: readonly DiskWatch[],
): Promise<Readiness> {
  const disks = await Promise.all(watched.map(async ({ disk, state }) => [disk, await state()] as const));
  const states = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await stateWithin(check)] as const),
  );
  return {
    ready: states.every(([, state]) => state === 'ready'),
    components: Object.fromEntries(states),
    disks: Object.fromEntries(disks),
  };
}

async function stateWithin(check: Check): Promise<ComponentState> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<ComponentState>((resolve) => {
    timer = setTimeout(() => {
      controller.abort();
      resolve('unavailable');
    }, TIMEOUT_MILLISECONDS);
  });
  try {
    // The component itself logs why it is not available.
    return await Promise.race([check(controller.signal).catch(() => 'unavailable' as const), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Wraps a readiness so that a process that is about to stop is never ready. */
export function untilStopping(
  read: () => Promise<Readiness>,
  phase: () => LifecyclePhase,
): () => Promise<Readiness> {
  return async () => {
    const { ready, components, disks } = await read();
    return phase() === 'stopping'
      ? { ready: false, components: { api: 'unavailable', ...components }, disks }
      : { ready, components, disks };
  };
}

export interface HealthParts {
  readonly redis: Redis;
  readonly index: Pick<Index, 'state'>;
  readonly storage: Pick<ObjectStorage, 'check'>;
  /** Queues that at least one worker must serve. */
  readonly queues: readonly QueueName[];
}

export function readinessChecks({ redis, index, storage, queues }: HealthParts): Record<string, Check> {
  const workers = queues.map((queue): [string, Check] => [
    `worker-${queue}`,
    async () => ((await redis.exists(keys.worker(queue))) === 1 ? 'ready' : 'unavailable'),
  ]);
  return {
    redis: async () => {
      await redis.ping();
      // PING succeeds while a server still loads its data; reads do not.
      await redis.exists(keys.epoch);
      return 'ready';
    },
    index: () => index.state(),
    storage: async () => {
      await storage.check();
      return 'ready';
    },
    ...Object.fromEntries(workers),
  };
}
