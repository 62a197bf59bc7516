import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { modelsAddressesOf } from '../shared/local-models/processes/models-address.js';
import { modelsDirectoryOf } from '../shared/local-models/models-directory.js';
import { embeddingFileOf } from '../shared/local-models/named-models.js';
import { loadSettings, type Environment, type Settings } from '../shared/settings/load.js';
import type { Child } from './supervise-child.js';
import { findOrInstallRedisServer } from './redis/find-redis.js';
import { lockDataDirectory } from './lock-data-directory.js';
import { startOwnRedis } from './redis/own-redis.js';
import { findOwnRedis, untilRedisAnswers } from './redis/reach-redis.js';
import { findDescription } from './models/ask-models.js';
import { withModelsProcess } from './models/with-models-process.js';
import { say, UserError } from './user-messages.js';

const redisPatienceMs = 3_000;

/**
 * Reindexes the data of a service. If the service does not run, its own Redis is started for that time.
 * @throws UserError when the reindexing did not finish
 */
export async function reindex(env: Environment): Promise<void> {
  const settings = loadSettings(env, []);
  const { url, own } = await reachRedis(settings, env);
  try {
    const { QUIRE_REDIS_URL: _, ...others } = env;
    await withLocalModels(settings, env, (variables, signal) =>
      run({ ...others, ...variables, REDIS_URL: url }, signal),
    );
  } finally {
    await own?.stop(redisPatienceMs);
  }
}

async function run(env: Environment, signal: AbortSignal | null): Promise<void> {
  const path = fileURLToPath(new URL('../reindex/main.js', import.meta.url));
  const child = fork(path, [], { env: { ...env }, stdio: 'inherit' });
  // The child gets Ctrl-C from the terminal as well, and we wait until it has ended properly.
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => child.kill(name));
  signal?.addEventListener('abort', () => child.kill());
  await once(child, 'exit');
  signal?.throwIfAborted();
  if (child.exitCode !== 0) throw new UserError('The data was not reindexed to the end.');
}

/** Starts a process with local models for the task, if vectors are made by one and no process that we may ask has it. */
async function withLocalModels(
  settings: Settings,
  env: Environment,
  task: (variables: Environment, signal: AbortSignal | null) => Promise<void>,
): Promise<void> {
  if (settings.embedder !== 'local' || settings.models.urls.length > 0) return task({}, null);
  const [address] = modelsAddressesOf(settings);
  const running = await findDescription(address, embeddingFileOf(settings));
  if (running) return task({}, null);
  say('Starting a process with local models for this.');
  await withModelsProcess(env, modelsDirectoryOf(settings), ({ variables, signal }) =>
    task(variables, signal),
  );
}

async function reachRedis(settings: Settings, env: Environment): Promise<{ url: string; own: Child | null }> {
  if (settings.redis.url !== '') return { url: settings.redis.url, own: null };
  const { dataDirectory } = settings;
  const running = await findOwnRedis(dataDirectory);
  if (running !== null) return { url: running, own: null };
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
  await untilRedisAnswers(own.url, 3_600_000, hopeless.signal);
  return { url: own.url, own: own.child };
}
