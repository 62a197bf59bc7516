import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { startTestRedis, type TestRedis } from './redis.js';

/** A Redis server that can load the Query Engine, and the module. */
export interface QueryEngine {
  readonly server: string;
  readonly module: string;
}

/** The folders where packages and images of Redis 8 and Redis Stack put them. */
const MODULE_FOLDERS = ['/usr/local/lib/redis/modules', '/usr/lib/redis/modules', '/opt/redis-stack/lib'];

/**
 * The Query Engine to test with: in the folder that `QUIRE_TEST_QUERY_ENGINE` names, or at the usual places; null where
 * there is none.
 */
export function findQueryEngine(): QueryEngine | null {
  const named = process.env['QUIRE_TEST_QUERY_ENGINE'] ?? '';
  if (named !== '') return { server: join(named, 'redis-server'), module: join(named, 'redisearch.so') };
  const stack = '/opt/redis-stack';
  const folder = MODULE_FOLDERS.find((each) => existsSync(join(each, 'redisearch.so')));
  if (folder === undefined) return null;
  const ownServer = join(stack, 'bin', 'redis-server');
  const server = folder.startsWith(stack) && existsSync(ownServer) ? ownServer : onPath('redis-server');
  return server === null ? null : { server, module: join(folder, 'redisearch.so') };
}

export function startQueryEngine(
  { server, module }: QueryEngine,
  more: { readonly module?: readonly string[]; readonly server?: readonly string[] } = {},
): Promise<TestRedis> {
  const load = ['--loadmodule', module, ...(more.module ?? [])];
  return startTestRedis({ server, arguments: [...load, ...(more.server ?? [])] });
}

function onPath(name: string): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}
