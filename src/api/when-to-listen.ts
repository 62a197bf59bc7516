import { setTimeout as sleep } from 'node:timers/promises';
import type { Index } from '../shared/ports.js';

const POLL_MILLISECONDS = 50;
const MAX_SILENCE_MILLISECONDS = 20_000;

/** Resolves when the index has been loaded for the first time. */
export async function untilIndexIsRead(index: Pick<Index, 'state'>, signal: AbortSignal): Promise<void> {
  while ((await index.state()) !== 'ready') await sleep(POLL_MILLISECONDS, undefined, { signal });
}

interface Beginning {
  readonly serving: Promise<void>;
  /** Resolves when Redis is not available and the process has to wait for it. */
  readonly redisAway: Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Resolves when the process should begin to listen. Until then connections are refused, so that even a balancer without
 * health checks tries another process. A process that cannot serve soon listens all the same, and reports the parts that it
 * waits for.
 */
export async function untilWorthListening({ serving, redisAway, signal }: Beginning): Promise<void> {
  const late = new AbortController();
  const silence = sleep(MAX_SILENCE_MILLISECONDS, undefined, {
    signal: AbortSignal.any([signal, late.signal]),
  });
  try {
    await Promise.race([serving, redisAway, silence]);
  } finally {
    late.abort();
  }
  signal.throwIfAborted();
}
