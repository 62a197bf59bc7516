import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Index } from '../shared/ports.js';
import { createSharedController } from '../shared/tools/aborting.js';
import { createConnectionClose, stopServer } from './http/connections/server.js';

export interface Lifecycle {
  readonly phase: () => LifecyclePhase;
  /** Aborts when nothing is waited for any more, such as a Redis that does not come or documents that are ingested. */
  readonly ending: AbortSignal;
  /** Marks the process as ready for requests. */
  beginServing(): void;
  /** Reports for `delaySeconds` that the process stops, while it still serves; then finishes the requests under way. */
  end(limits: { readonly delaySeconds: number; readonly drainSeconds: number }): Promise<void>;
}

/** The phases of an API process, and how the last of them stops its server. */
export function createLifecycle(server: Server): Lifecycle {
  let phase: LifecyclePhase = 'starting';
  const ending = createSharedController();
  const connectionClose = createConnectionClose(server);
  return {
    phase: () => phase,
    ending: ending.signal,
    beginServing: () => {
      if (phase === 'starting') phase = 'serving';
    },
    end: async ({ delaySeconds, drainSeconds }) => {
      // No balancer sends requests to a process that has not started, so it can stop at once.
      const delay = phase === 'serving' ? delaySeconds : 0;
      phase = 'stopping';
      connectionClose.begin();
      await sleep(delay * 1_000);
      ending.abort();
      await stopServer(server, { drainSeconds: drainSeconds - delay });
    },
  };
}

/** The phase of an API process. It reports the phase in its health routes, and is ready for requests while `serving`. */
export type LifecyclePhase = 'starting' | 'serving' | 'stopping';

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
