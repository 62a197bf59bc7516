import { createFingerprints } from '../../shared/local-models/fingerprints.js';
import type { ModelDescription } from '../../shared/local-models/description.js';
import { NoEngineError } from '../../shared/local-models/import-engine.js';
import { DamagedModelError, readModelHeader } from '../../shared/local-models/model-header.js';
import {
  findModelFile,
  isModelName,
  MODEL_NAME_RULE,
  modelsDirectoryOf,
} from '../../shared/local-models/model-files.js';
import { modelsAddressesOf, type ModelsAddress } from '../../shared/local-models/processes/models-address.js';
import { loadSettings, type Environment, type Settings } from '../../shared/settings/load.js';
import { UserError } from '../user-messages.js';
import { findDescription } from './ask-models.js';
import { inMegabytes } from './megabytes.js';
import { tryChat } from './trial/chat-trial.js';
import { tryEmbedding } from './trial/embedding-trial.js';
import { tryRanking } from './trial/ranking-trial.js';
import type { Verdict } from './trial/verdict.js';
import { withModelsProcess } from './with-models-process.js';

const PATIENCE_MS = 600_000;

export interface TestResult {
  readonly isSane: boolean;
  /** The text for the user. */
  readonly text: string;
}

/**
 * Tries a model: its speed, and whether its results make sense. Asks the process of the service if that answers and has
 * this very file, else a process of its own.
 * @throws UserError
 */
export async function test(name: string, env: Environment): Promise<TestResult> {
  if (!isModelName(name)) throw new UserError(`${JSON.stringify(name)}: allowed: ${MODEL_NAME_RULE}`);
  const settings = loadSettings(env, []);
  const addresses = modelsAddressesOf(settings);
  if (settings.models.urls.length > 0) {
    for (const address of addresses) {
      const model = await findDescription(address, name);
      if (model) return tryModel(address, model);
    }
    throw new UserError(`No process of models.urls answers and has ${name}.`);
  }
  const [configured] = addresses;
  const id = await identify(name, settings);
  const running = await findDescription(configured, id);
  if (running) return tryModel(configured, running);
  const quiet = { ...env, QUIRE_LOG_LEVEL: 'fatal' };
  return withModelsProcess(quiet, modelsDirectoryOf(settings), async ({ address }) => {
    // It may have to read the whole file first.
    const model = await findDescription(address, id, PATIENCE_MS);
    if (model) return tryModel(address, model);
    throw new UserError(`The process with local models does not describe ${name}.`);
  });
}

/**
 * The name with the fingerprint, which only this very file has.
 * @throws UserError where there is no whole model of this name
 */
async function identify(name: string, settings: Settings): Promise<string> {
  const directory = modelsDirectoryOf(settings);
  const file = await findModelFile(directory, name);
  if (!file) throw new UserError(`There is no ${name} in ${directory}.`);
  await readModelHeader(file).catch((error: unknown) => {
    if (error instanceof DamagedModelError)
      throw new UserError(`${name} ${error.message}.`, { cause: error });
    if (error instanceof NoEngineError) throw new UserError(`${error.message}.`, { cause: error });
    throw error;
  });
  return `${name}@${await createFingerprints(directory).of(file)}`;
}

async function tryModel(address: ModelsAddress, model: ModelDescription): Promise<TestResult> {
  const { isSane, lines } = await tryKind(address, model);
  const { id, kind, architecture, window, size_bytes } = model;
  const head = `${id}: ${kind} (${architecture}), ${inMegabytes(size_bytes)} MB, window ${String(window)}`;
  return { isSane, text: [head, ...lines].join('\n') };
}

function tryKind(address: ModelsAddress, model: ModelDescription): Promise<Verdict> {
  switch (model.kind) {
    case 'embedding':
      return tryEmbedding(address, model);
    case 'ranking':
      return tryRanking(address, model);
    case 'chat':
      return tryChat(address, model);
  }
}
