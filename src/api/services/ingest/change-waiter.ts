import type { Redis } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';

export interface Wait<Value> {
  /** Whose changes wake the wait: a document's id, or whatever is published to the same channel. */
  readonly id: string;
  readonly read: () => Promise<Value>;
  /** The value now, where the caller knows that nothing can have changed it yet: it is not read then. */
  readonly known?: Value;
  readonly isDone: (value: Value) => boolean;
  readonly milliseconds: number;
  readonly signal: AbortSignal;
}

export interface ChangeWaiter {
  /** Resolves with the last value read: done, or as it stood when the time was over or the signal aborted. */
  waitFor<Value>(wait: Wait<Value>): Promise<Value>;
  close(): void;
}

/** A message may be lost while its connection is down; then the value is seen this much later. */
const POLL_MILLISECONDS = 1_000;

/**
 * Waits for changes over one subscription of its own, however many wait.
 *
 * @param stopping ends all waits at once, so that a process that stops still answers
 */
export async function createChangeWaiter(
  redis: Redis,
  onError: (error: Error) => void,
  stopping?: AbortSignal,
): Promise<ChangeWaiter> {
  const waiting = new Map<string, Set<() => void>>();
  const subscriber = redis.duplicate();
  subscriber.on('error', onError);
  await subscriber.connect();
  await subscriber.subscribe(keys.changed, (id) => {
    for (const wake of waiting.get(id) ?? []) wake();
  });

  const listen = (id: string, wake: () => void) => {
    const others = waiting.get(id) ?? new Set();
    waiting.set(id, others.add(wake));
    return () => {
      others.delete(wake);
      if (others.size === 0) waiting.delete(id);
    };
  };

  return {
    waitFor: async ({ id, read, known, isDone, milliseconds, signal }) => {
      const end = performance.now() + milliseconds;
      const bell = createBell();
      // Before the first read, so that no change falls between reading and listening.
      const forget = listen(id, bell.ring);
      for (const each of [signal, stopping]) each?.addEventListener('abort', bell.ring, { once: true });
      try {
        for (let first = known; ; first = undefined) {
          const value = first ?? (await read());
          const left = end - performance.now();
          if (isDone(value) || left <= 0 || signal.aborted || stopping?.aborted) return value;
          await bell.heard(Math.min(left, POLL_MILLISECONDS));
        }
      } finally {
        forget();
        for (const each of [signal, stopping]) each?.removeEventListener('abort', bell.ring);
      }
    },
    close: () => {
      subscriber.destroy();
    },
  };
}

/** Remembers one ring until it is heard. */
function createBell() {
  let rung = false;
  let wake: (() => void) | null = null;
  return {
    ring: () => {
      rung = true;
      wake?.();
    },
    heard: async (milliseconds: number): Promise<void> => {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, milliseconds);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      rung = false;
      wake = null;
    },
  };
}
