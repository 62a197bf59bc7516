import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { modelsAddressesOf } from '../shared/local-models/processes/models-address.js';
import { modelsDirectoryOf } from '../shared/local-models/model-files.js';
import { embedderOf } from '../shared/settings/chosen-adapters.js';
import { loadSettings, type Environment, type Settings } from '../shared/settings/load.js';
import { audited } from './audited.js';
import { reachOwnData } from './redis/reach-own-data.js';
import { findDescription } from './models/ask-models.js';
import { withModelsProcess } from './models/with-models-process.js';
import { say, UserError } from './user-messages.js';

/**
 * Reindexes the data of a service. If the service does not run, its own Redis is started for that time.
 * @throws UserError when the reindexing did not finish
 */
export async function reindex(env: Environment): Promise<void> {
  const settings = loadSettings(env, []);
  await audited('command.reindex', settings, async () => {
    const { url, stop } = await reachOwnData(settings, env);
    try {
      const { QUIRE_REDIS_URL: _, ...others } = env;
      await withLocalModels(settings, env, (variables, signal) =>
        run({ ...others, ...variables, REDIS_URL: url }, signal),
      );
    } finally {
      await stop();
    }
  });
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
  const { place, inUse } = embedderOf(settings);
  if (place.at !== 'models-process' || settings.models.urls.length > 0) return task({}, null);
  const [address] = modelsAddressesOf(settings);
  const running = await findDescription(address, inUse(settings).model);
  if (running) return task({}, null);
  say('Starting a process with local models for this.');
  await withModelsProcess(env, modelsDirectoryOf(settings), ({ variables, signal }) =>
    task(variables, signal),
  );
}
