import type { ModelKind } from '../../local-models/description.js';
import { prefixesFor } from '../../local-models/families.js';
import type { FindOptions } from '../../local-models/processes/find-model.js';
import { modelsAddressesOf } from '../../local-models/processes/models-address.js';
import { embeddingFileOf } from '../../local-models/recommended.js';
import { SettingsError, type Rule } from '../../settings/rule.js';
import type {
  CompleterDescriptor,
  EmbedderDescriptor,
  NoSections,
  ReadSettings,
  RerankerDescriptor,
} from '../descriptor.js';

type OwnSettings = ReadSettings<NoSections>;

/** The models in the process with local models, which speaks the protocols of providers. */
const common = {
  name: 'local',
  description: 'a model file, in a process of its own',
  place: { at: 'models-process' },
} as const;

/** A processor takes some seconds for this many tokens. A request is embedded again when its answer is lost. */
const BATCH = { inputs: 32, tokens: 8_192 };

export const localEmbedder: EmbedderDescriptor<'local'> = {
  ...common,
  inUse: (settings) => ({ model: embeddingFileOf(settings), address: addressOf(settings) }),
  create: async (settings, options) => {
    const { createOpenAIEmbedder } = await import('../openai/embedder.js');
    const { embedding } = settings;
    const wanted = {
      setting: 'embedding.model',
      name: embeddingFileOf(settings),
      kind: 'embedding',
    } as const;
    const model = await findModel(settings, wanted, options);
    return createOpenAIEmbedder({
      ...(await connectionOf(settings)),
      model: `${model.id}@${model.fingerprint}`,
      name: `local:${model.id}:${model.fingerprint}`,
      prefixes: prefixesFor(embedding, `${model.name} ${model.id}`),
      timeoutMilliseconds: embedding.timeoutSeconds * 1_000,
      tellsQueries: true,
      maxInputs: Math.min(embedding.maxInputs, BATCH.inputs),
      maxTokens: BATCH.tokens,
    });
  },
};

export const localCompleter: CompleterDescriptor<'local'> = {
  ...common,
  rules: [namesFile('completer', 'completion')],
  inUse: (settings) => ({ model: settings.completion.model, address: addressOf(settings) }),
  create: async (settings, options) => {
    const { createOpenAICompleter } = await import('../openai/completer.js');
    const { completion } = settings;
    const wanted = { setting: 'completion.model', name: completion.model, kind: 'chat' } as const;
    const model = await findModel(settings, wanted, options);
    return createOpenAICompleter({
      ...(await connectionOf(settings)),
      model: `${model.id}@${model.fingerprint}`,
      name: `local:${model.id}`,
      contextWindow: Math.min(completion.contextWindow, model.window),
      tellsCaller: true,
      timeoutMilliseconds: completion.timeoutSeconds * 1_000,
    });
  },
};

export const localReranker: RerankerDescriptor<'local'> = {
  ...common,
  rules: [namesFile('reranker', 'reranking')],
  inUse: (settings) => ({ model: settings.reranking.model, address: addressOf(settings) }),
  create: async (settings, options) => {
    const { createHttpReranker } = await import('../http-reranker/http-reranker.js');
    const { reranking } = settings;
    const wanted = { setting: 'reranking.model', name: reranking.model, kind: 'ranking' } as const;
    const model = await findModel(settings, wanted, options);
    return createHttpReranker({
      ...reranking,
      ...(await connectionOf(settings)),
      model: `${model.id}@${model.fingerprint}`,
      protocol: 'documents',
      scores: 'probability',
    });
  },
};

function namesFile(port: string, section: 'completion' | 'reranking'): Rule<OwnSettings> {
  return {
    names: [`${section}.model`],
    broken: (settings) => settings[section].model === '',
    problem: () => ({
      setting: `${section}.model`,
      value: '""',
      allowed: `needed with ${port} = "local": the name of a file that \`quire models pull\` has put into models.dir`,
    }),
  };
}

const addressOf = (settings: OwnSettings): string => modelsAddressesOf(settings)[0].url;

async function connectionOf(settings: OwnSettings) {
  const { createBalancedFetch } = await import('../../local-models/processes/models-address.js');
  const addresses = modelsAddressesOf(settings);
  const [{ url, token }] = addresses;
  return { apiKey: token, baseUrl: `${url}/v1`, fetch: createBalancedFetch(addresses) };
}

interface WantedModel {
  readonly setting: string;
  readonly name: string;
  readonly kind: ModelKind;
}

/** @throws SettingsError that names the setting and the remedy */
async function findModel(settings: OwnSettings, { setting, name, kind }: WantedModel, options: FindOptions) {
  const { findLocalModel, WrongModelError } = await import('../../local-models/processes/find-model.js');
  try {
    return await findLocalModel(modelsAddressesOf(settings), { name, kind }, options);
  } catch (error) {
    if (!(error instanceof WrongModelError)) throw error;
    const allowed = `must be a ${kind} model in the models folder, as \`npx quire models pull\` puts it there: ${error.message}`;
    throw new SettingsError([{ setting, value: JSON.stringify(name), allowed }]);
  }
}
