import type { Logger } from '../../../shared/observability/logger.js';
import type { Redis } from '../../../shared/redis/client.js';
import { renewScript } from './claim-script.js';

/** A run whose process has died holds its key for this long. */
export const LEASE_MILLISECONDS = 10_000;
const RENEW_MILLISECONDS = LEASE_MILLISECONDS / 4;

/** The runs of this process that are under way. Their leases are renewed until they are removed. */
export interface Leases {
  add(run: string, key: string): void;
  remove(run: string): void;
}

export function createLeases(redis: Redis, logger: Logger): Leases {
  const held = new Map<string, string>();
  let timer: NodeJS.Timeout | null = null;
  const renewAll = () => {
    for (const [run, key] of held) {
      const call = { keys: [key], arguments: [run, String(LEASE_MILLISECONDS)] };
      renewScript.run(redis, call).catch((error: unknown) => {
        // Another run may take over. Objects that this one creates are refused then.
        logger.warn({ err: error }, 'the lease of an idempotency key was not renewed');
      });
    }
  };
  return {
    add: (run, key) => {
      held.set(run, key);
      timer ??= setInterval(renewAll, RENEW_MILLISECONDS).unref();
    },
    remove: (run) => {
      held.delete(run);
      if (held.size > 0 || timer === null) return;
      clearInterval(timer);
      timer = null;
    },
  };
}
