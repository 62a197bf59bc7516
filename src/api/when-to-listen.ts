import { setTimeout as sleep } from 'node:timers/promises';
import type { Index } from '../shared/ports.js';

const POLL_MILLISECONDS = 50;
const MAX_SILENCE_MILLISECONDS = 20_000;

/** Resolves when the index has been read once. */
export async function untilIndexIsRead(index: Pick<Index, 'state'>, signal: AbortSignal): Promise<void> {
  while ((await index.state()) !== 'ready') await sleep(POLL_MILLISECONDS, undefined, { signal });
}

interface Beginning {
  readonly serving: Promise<void>;
  /** Resolves when it turns out that Redis has to be waited for. */
  readonly redisAway: Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Until when a process does not listen: whoever spreads connections over processes, even without asking them anything,
 * goes on to another then. One that cannot serve soon listens all the same, to say what it waits for.
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
