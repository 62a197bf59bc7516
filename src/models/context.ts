import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Llama } from 'node-llama-cpp';
import { availableParallelism } from 'node:os';
import { createFingerprints } from '../shared/local-models/fingerprints.js';
import { loadCrashesPath } from '../shared/local-models/load-crashes.js';
import { openDisks } from '../shared/disk/disk-watch.js';
import type { Logger } from '../shared/observability/logger.js';
import { loadOnce } from '../shared/tools/coalesce-runs.js';
import type { Settings } from '../shared/settings/schema.js';
import { modelsAddressesOf } from '../shared/local-models/processes/models-address.js';
import { namedModels } from '../shared/local-models/named-models.js';
import { modelsDirectoryOf } from '../shared/local-models/model-files.js';
import { openCrashJournal } from './engine/crash-journal.js';
import { openLlama, type EngineLimits } from './engine/open-model.js';
import { createLoadedModels } from './engine/loaded-models.js';
import { createModelCatalog } from './engine/model-catalog.js';
import { openStateFiles, expireStates } from './engine/chat/saved-states.js';
import { createModelsApp } from './http/app.js';
import { createModelsMetrics } from './http/metrics.js';

/** Everything of the process, wired once. The engine itself is loaded for the first model. */
export async function createModelsContext(settings: Settings, logger: Logger) {
  const { models: wanted } = settings;
  const directory = modelsDirectoryOf(settings);
  await mkdir(directory, { recursive: true });
  const limits = limitsOf(wanted);
  const engine = createEngine(limits.threads, logger);
  const metrics = createModelsMetrics();
  const maxBytes = settings.caches.stateMegabytes * 1024 ** 2;
  const { data: disk } = openDisks(settings, logger);
  const states = await openStateFiles(join(settings.dataDirectory, 'states'), { maxBytes, disk, logger });
  const catalog = createModelCatalog({
    directory,
    fingerprints: createFingerprints(directory),
    windowTokens: limits.windowTokens,
  });
  const models = createLoadedModels({
    llama: engine.load,
    catalog,
    states,
    logger,
    memoryBytes: wanted.memoryMegabytes * 1024 ** 2,
    named: new Set(namedModels(settings).map(({ name }) => name)),
    limits,
    onRestored: (milliseconds) => metrics.observeRestore(milliseconds),
    onGaveWay: () => metrics.countGivingWay(),
    journal: await openCrashJournal(loadCrashesPath(settings.dataDirectory)),
  });
  metrics.watch(models, states);
  const stopExpiry = expireStates(states, { idleDays: settings.caches.idleDays, logger });
  return {
    app: createModelsApp({ models, catalog, states, metrics, ...callersOf(settings), logger }),
    close: async () => {
      stopExpiry();
      await models.close();
      await engine.dispose();
    },
  };
}

function createEngine(threads: number, logger: Logger) {
  let opened: Llama | null = null;
  return {
    load: loadOnce(async () => (opened = await openLlama({ threads, logger }))),
    dispose: async () => {
      await opened?.dispose();
    },
  };
}

/** Returns the token for callers of this process, and the names by which it is found. */
function callersOf(settings: Settings): { readonly token: string | null; readonly hosts: readonly string[] } {
  const addresses = modelsAddressesOf(settings);
  return { token: addresses[0].token, hosts: addresses.map(({ url }) => new URL(url).hostname) };
}

function limitsOf({ threads, contextTokens, conversations, maxWaiting }: Settings['models']): EngineLimits {
  return {
    threads: threads > 0 ? threads : standardThreads(),
    windowTokens: contextTokens,
    slots: conversations,
    maxWaiting,
  };
}

/**
 * Returns the standard number of threads: half of the cores, since the other half is for the rest of the service. Threads
 * of the engine wait for each other spinning, so that a thread that shares its core makes all others wait.
 */
function standardThreads(): number {
  return Math.max(1, Math.floor(availableParallelism() / 2));
}
