import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSharedController } from '../shared/tools/until-aborted.js';
import { createConnectionClose } from './http/connections/connection-close.js';
import { stopServer } from './http/connections/stop-server.js';
import type { LifecyclePhase } from './lifecycle-phase.js';

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
