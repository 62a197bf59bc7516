import type { DiskWatch } from '../../shared/disk/disk-watch.js';
import type { Logger } from '../../shared/observability/logger.js';
import type { Redis } from '../../shared/redis/client.js';
import { keys } from '../../shared/redis/keys.js';

/** Writing the files anew takes the disk minutes where they are large. */
const PAUSE_MILLISECONDS = 600_000;
/** The growth since the last rewriting below which another one saves nothing. */
const MIN_GROWTH = 65_536;
/** The part of the spare bytes that has to be left even if the new files become as large as the old ones. */
const LEFT_OF_SPARE = 1 / 4;

interface Parts {
  readonly redis: Redis;
  readonly disks: { readonly redis: Pick<DiskWatch, 'state'> | null };
  readonly logger: Logger;
}

/**
 * Lets Redis write its append-only files anew while their disk is short. Removed data leaves them only then, and Redis by
 * itself waits until they are twice as large as before, which they never become while nothing that grows is taken.
 */
export async function rewriteRedisFiles({ redis, disks, logger }: Parts): Promise<void> {
  const state = await disks.redis?.state();
  if (!state || state.free - state.rewrite < LEFT_OF_SPARE * (state.least - state.rewrite)) return;
  const info = await redis.info('persistence');
  const figure = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  if (figure('aof_enabled') === 0 || figure('aof_rewrite_in_progress') === 1) return;
  if (figure('aof_current_size') - figure('aof_base_size') < MIN_GROWTH) return;
  const pause = { expiration: { type: 'PX', value: PAUSE_MILLISECONDS }, condition: 'NX' } as const;
  if ((await redis.set(keys.rewritePause, '1', pause)) === null) return;
  logger.warn(state, 'the disk of Redis is nearly full: it writes its files anew, without what was removed');
  await redis.bgRewriteAof();
}
