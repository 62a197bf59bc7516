import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Llama } from 'node-llama-cpp';
import { availableParallelism } from 'node:os';
import { createFingerprints } from '../shared/local-models/fingerprints.js';
import type { Logger } from '../shared/observability/logger.js';
import { loadOnce } from '../shared/tools/load-once.js';
import type { Settings } from '../shared/settings/schema.js';
import { modelsDirectoryOf } from '../shared/local-models/models-directory.js';
import { openCrashJournal } from './engine/crash-journal.js';
import { openLlama } from './engine/llama.js';
import { createLoadedModels } from './engine/loaded-models.js';
import { openStateFiles } from './engine/saved-states.js';
import { createModelsApp } from './http/app.js';
import { createModelsMetrics } from './http/metrics.js';

/** Everything of the process, wired once. The engine itself is loaded for the first model. */
export async function createModelsContext(settings: Settings, logger: Logger) {
  const { models: wanted } = settings;
  const directory = modelsDirectoryOf(settings);
  await mkdir(directory, { recursive: true });
  const threads = wanted.threads > 0 ? wanted.threads : standardThreads();
  let opened: Llama | null = null;
  const llama = loadOnce(async () => (opened = await openLlama({ threads, logger })));
  const metrics = createModelsMetrics();
  const states = await openStateFiles(
    join(settings.dataDirectory, 'states'),
    settings.caches.stateMegabytes * 1024 ** 2,
  );
  const models = createLoadedModels({
    llama,
    directory,
    states,
    logger,
    memoryBytes: wanted.memoryMegabytes * 1024 ** 2,
    limits: {
      threads,
      windowTokens: wanted.contextTokens,
      slots: wanted.conversations,
      maxWaiting: wanted.maxWaiting,
    },
    onRestored: (milliseconds) => metrics.observeRestore(milliseconds),
    fingerprints: createFingerprints(directory),
    journal: await openCrashJournal(directory),
  });
  metrics.watch(models);
  const token = wanted.token === '' ? null : wanted.token;
  return {
    app: createModelsApp({ models, states, metrics, token, logger }),
    close: async () => {
      await models.close();
      await opened?.dispose();
    },
  };
}

/**
 * Half of the cores: the other half is for the rest of the service. Threads of the engine wait for each other spinning, so that
 * one that has to share its core makes all others wait.
 */
function standardThreads(): number {
  return Math.max(1, Math.floor(availableParallelism() / 2));
}
