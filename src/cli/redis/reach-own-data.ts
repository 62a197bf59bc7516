import type { Environment, Settings } from '../../shared/settings/load.js';
import { lockDataDirectory } from '../locks.js';
import { say, UserError } from '../user-messages.js';
import { findOrInstallRedisServer } from './find-redis.js';
import { startOwnRedis } from './own-redis.js';
import { findOwnRedis, untilRedisAnswers } from './reach-redis.js';

const LOADING_MILLISECONDS = 3_600_000;
const STOP_MILLISECONDS = 3_000;

/**
 * Finds the Redis with the data of a service: the Redis that the settings name, or the one of a running service. If none
 * runs, the service's own Redis is started until `stop`.
 */
export async function reachOwnData(
  settings: Settings,
  env: Environment,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const nothing = () => Promise.resolve();
  if (settings.redis.url !== '') return { url: settings.redis.url, stop: nothing };
  const { dataDirectory } = settings;
  const running = await findOwnRedis(dataDirectory);
  if (running !== null) return { url: running, stop: nothing };
  await lockDataDirectory(dataDirectory);
  const server = findOrInstallRedisServer(env);
  const hopeless = new AbortController();
  const own = await startOwnRedis({
    server,
    dataDirectory,
    onHopeless: (reason) => {
      say(reason);
      hopeless.abort(new UserError(reason));
    },
  });
  await untilRedisAnswers(own.url, LOADING_MILLISECONDS, hopeless.signal);
  return { url: own.url, stop: () => own.child.stop(STOP_MILLISECONDS).then(() => undefined) };
}
