import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onPath, type Environment } from '../executables.js';
import { installRedis } from './install-redis.js';
import { UserError } from '../user-messages.js';

/** Finds the server that `redis-stack-server`, a shell script, would start with fixed options. */
function stackServer(env: Environment): string | null {
  const script = onPath('redis-stack-server', env);
  if (script === null) return null;
  const server = join(dirname(realpathSync(script)), 'redis-server');
  return existsSync(server) ? server : script;
}

function isRecent(path: string): boolean {
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 10_000 });
  const version = /v=(\d+)\.(\d+)/.exec(stdout);
  return version !== null && Number(version[1]) * 100 + Number(version[2]) >= 602;
}

/** Finds a Redis server of version 6.2 or newer on this machine. */
function findRedisServer(env: Environment): string | null {
  const servers = [onPath('redis-server', env), stackServer(env), onPath('valkey-server', env)];
  return servers.filter((path) => path !== null).find(isRecent) ?? null;
}

/**
 * Returns the path of a Redis server. If there is none, it is installed, if that is possible and allowed.
 * @throws UserError with the command that installs one
 */
export function findOrInstallRedisServer(env: Environment): string {
  const found = findRedisServer(env);
  if (found !== null) return found;
  installRedis(env);
  const installed = findRedisServer(env);
  if (installed !== null) return installed;
  throw new UserError(
    'The Redis that this system offers is older than 6.2. Install a newer one, or set REDIS_URL.',
  );
}
