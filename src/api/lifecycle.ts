import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnectionClose } from './http/connections/connection-close.js';
import { stopServer } from './http/connections/stop-server.js';
import type { Phase } from './lifecycle-phase.js';

export interface Life {
  readonly phase: () => Phase;
  /** Aborts when nothing is waited for any more: a Redis that does not come, documents that requests wait for. */
  readonly ending: AbortSignal;
  /** From here on requests are welcome. */
  begin(): void;
  /** Goes on serving for `delaySeconds`, while it says that it leaves; then finishes what is under way. */
  end(limits: { readonly delaySeconds: number; readonly drainSeconds: number }): Promise<void>;
}

/** The phases of a process, and what the last of them does to its server. */
export function createLife(server: Server): Life {
  let phase: Phase = 'starting';
  const ending = new AbortController();
  const farewell = createConnectionClose(server);
  return {
    phase: () => phase,
    ending: ending.signal,
    begin: () => {
      if (phase === 'starting') phase = 'serving';
    },
    end: async ({ delaySeconds, drainSeconds }) => {
      // Nobody has been sent to one that only starts.
      const delay = phase === 'serving' ? delaySeconds : 0;
      phase = 'stopping';
      farewell.begin();
      await sleep(delay * 1_000);
      ending.abort();
      await stopServer(server, { drainSeconds: drainSeconds - delay });
    },
  };
}
