import { createBuiltinCompleter } from './adapters/builtin/completer.js';
import { createBuiltinEmbedder } from './adapters/builtin/embedder.js';
import { UnusableClassError } from './adapters/langchain/load-class.js';
import type { VectorAlgorithm } from './adapters/query-engine-index/query-engine-index.js';
import type { ModelKind } from './local-models/description.js';
import { prefixesOf, type Prefixes } from './local-models/families.js';
import { findLocalModel, WrongModelError, type FindOptions } from './local-models/processes/find-model.js';
import { createBalancedFetch } from './local-models/processes/balanced-fetch.js';
import { modelsAddressesOf } from './local-models/processes/models-address.js';
import { embeddingFileOf } from './local-models/named-models.js';
import type { Completer, Embedder, Reranker } from './ports.js';
import { namedModel } from './models/in-use/named-model.js';
import { parseProviderClass, type ProviderClass } from './models/provider-class.js';
import { traceCompleter, traceEmbedder, traceReranker, type ModelProvider } from './models/traced-models.js';
import { parseOptions } from './settings/constructor-options.js';
import { providerClass } from './settings/setting-kinds.js';
import { SettingsError } from './settings/settings-error.js';
import type { Settings } from './settings/schema.js';
import { tracedFetch } from './tracing/traced-fetch.js';

/**
 * The adapters that the settings name, for the contexts of all processes. Clients of providers and of S3 are
 * imported where they are used, because loading them takes time and memory.
 */
export async function createEmbedder(settings: Settings, options: FindOptions): Promise<Embedder> {
  const { embedder: name, embedding } = settings;
  return traceEmbedder(await openEmbedder(settings, options), providerNamed(name, embedding.baseUrl));
}

async function openEmbedder(settings: Settings, options: FindOptions): Promise<Embedder> {
  const { embedder, embedding, openaiApiKey } = settings;
  switch (embedder) {
    case 'builtin':
      return createBuiltinEmbedder();
    case 'openai': {
      const { createOpenAIEmbedder } = await import('./adapters/openai/embedder.js');
      return createOpenAIEmbedder({
        apiKey: openaiApiKey,
        baseUrl: embedding.baseUrl,
        fetch: fetchFor(settings),
        model: namedModel('embedder', embedding),
        prefixes: prefixesFor(settings, ''),
        ...(embedding.dimensions > 0 ? { dimensions: embedding.dimensions } : {}),
        timeoutMilliseconds: embedding.timeoutSeconds * 1_000,
        maxInputs: embedding.maxInputs,
        maxTokens: embedding.maxTokens,
      });
    }
    case 'langchain':
      return createLangChainEmbedder(settings);
    case 'local':
      return createLocalEmbedder(settings, options);
  }
}

/** The model in the process with local models, which speaks the same protocol. */
async function createLocalEmbedder(settings: Settings, options: FindOptions): Promise<Embedder> {
  const { createOpenAIEmbedder } = await import('./adapters/openai/embedder.js');
  const { embedding } = settings;
  const wanted = { setting: 'embedding.model', name: embeddingFileOf(settings), kind: 'embedding' } as const;
  const model = await findModel(settings, wanted, options);
  return createOpenAIEmbedder({
    ...localConnection(settings),
    model: `${model.id}@${model.fingerprint}`,
    name: `local:${model.id}:${model.fingerprint}`,
    prefixes: prefixesFor(settings, `${model.name} ${model.id}`),
    timeoutMilliseconds: embedding.timeoutSeconds * 1_000,
    tellsQueries: true,
    maxInputs: Math.min(embedding.maxInputs, LOCAL_BATCH.inputs),
    maxTokens: LOCAL_BATCH.tokens,
  });
}

/** A processor takes some seconds for this many tokens. A request is embedded again when its answer is lost. */
const LOCAL_BATCH = { inputs: 32, tokens: 8_192 };

function localConnection(settings: Settings) {
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
async function findModel(settings: Settings, { setting, name, kind }: WantedModel, options: FindOptions) {
  try {
    return await findLocalModel(modelsAddressesOf(settings), { name, kind }, options);
  } catch (error) {
    if (!(error instanceof WrongModelError)) throw error;
    const allowed = `must be a ${kind} model in the models folder, as \`npx quire models pull\` puts it there: ${error.message}`;
    throw new SettingsError([{ setting, value: JSON.stringify(name), allowed }]);
  }
}

/** Returns the prefixes of the settings, or of the family of the model. */
function prefixesFor({ embedding }: Settings, modelName: string): Prefixes {
  const known = prefixesOf(modelName);
  const { queryPrefix, documentPrefix } = embedding;
  return {
    query: queryPrefix === 'auto' ? known.query : queryPrefix,
    document: documentPrefix === 'auto' ? known.document : documentPrefix,
  };
}

/** Returns the function that sends requests to somebody else's provider, if not `fetch` itself. */
const fetchFor = ({ traces }: Settings) => (traces.toProviders ? tracedFetch : undefined);

const providerNamed = (name: string, baseUrl: string): ModelProvider => ({
  name,
  baseUrl: name === 'openai' || name === 'http' ? baseUrl : null,
});

export async function createCompleter(settings: Settings, options: FindOptions): Promise<Completer> {
  const { completer: name, completion } = settings;
  return traceCompleter(await openCompleter(settings, options), providerNamed(name, completion.baseUrl));
}

async function openCompleter(settings: Settings, options: FindOptions): Promise<Completer> {
  const { completer, completion, openaiApiKey } = settings;
  const { contextWindow } = completion;
  switch (completer) {
    case 'builtin':
      return createBuiltinCompleter({ contextWindow });
    case 'openai': {
      const { createOpenAICompleter } = await import('./adapters/openai/completer.js');
      return createOpenAICompleter({
        apiKey: openaiApiKey,
        baseUrl: completion.baseUrl,
        fetch: fetchFor(settings),
        model: namedModel('completer', completion),
        contextWindow,
        timeoutMilliseconds: completion.timeoutSeconds * 1_000,
      });
    }
    case 'langchain':
      return createLangChainCompleter(settings);
    case 'local': {
      const { createOpenAICompleter } = await import('./adapters/openai/completer.js');
      const wanted = { setting: 'completion.model', name: completion.model, kind: 'chat' } as const;
      const model = await findModel(settings, wanted, options);
      return createOpenAICompleter({
        ...localConnection(settings),
        model: `${model.id}@${model.fingerprint}`,
        name: `local:${model.id}`,
        contextWindow: Math.min(contextWindow, model.window),
        tellsCaller: true,
        timeoutMilliseconds: completion.timeoutSeconds * 1_000,
      });
    }
  }
}

/** Null without one. */
export async function createReranker(settings: Settings, options: FindOptions): Promise<Reranker | null> {
  const { reranker: name, reranking } = settings;
  const reranker = await openReranker(settings, options);
  return reranker && traceReranker(reranker, providerNamed(name, reranking.baseUrl));
}

async function openReranker(settings: Settings, options: FindOptions): Promise<Reranker | null> {
  const { reranker, reranking, rerankerApiKey } = settings;
  switch (reranker) {
    case 'none':
      return null;
    case 'http': {
      const { createHttpReranker } = await import('./adapters/http-reranker/http-reranker.js');
      const model = namedModel('reranker', reranking);
      return createHttpReranker({ ...reranking, model, apiKey: rerankerApiKey, fetch: fetchFor(settings) });
    }
    case 'local': {
      const { createHttpReranker } = await import('./adapters/http-reranker/http-reranker.js');
      const wanted = { setting: 'reranking.model', name: reranking.model, kind: 'ranking' } as const;
      const model = await findModel(settings, wanted, options);
      return createHttpReranker({
        ...reranking,
        ...localConnection(settings),
        model: `${model.id}@${model.fingerprint}`,
        protocol: 'documents',
        scores: 'probability',
      });
    }
  }
}

/** @throws SettingsError when the class that the settings name cannot be used */
async function createLangChainEmbedder(settings: Settings): Promise<Embedder> {
  const { embedding, constructorOptions } = settings;
  const { createLangChainEmbedder: create } = await import('./adapters/langchain/embedder.js');
  return create({
    provider: providerOf('embedding', embedding.provider),
    model: embedding.model,
    prefixes: prefixesFor(settings, ''),
    ...(embedding.dimensions > 0 ? { dimensions: embedding.dimensions } : {}),
    options: constructorOptions.embedding,
    writtenOptions: parseOptions(embedding.options) ?? {},
    timeoutMilliseconds: embedding.timeoutSeconds * 1_000,
    maxInputs: embedding.maxInputs,
    maxTokens: embedding.maxTokens,
  }).catch(blame('embedding', embedding.provider));
}

/** @throws SettingsError when the class that the settings name cannot be used */
async function createLangChainCompleter(settings: Settings): Promise<Completer> {
  const { completion, constructorOptions } = settings;
  const { createLangChainCompleter: create } = await import('./adapters/langchain/completer.js');
  return create({
    provider: providerOf('completion', completion.provider),
    model: completion.model,
    options: constructorOptions.completion,
    contextWindow: completion.contextWindow,
    timeoutMilliseconds: completion.timeoutSeconds * 1_000,
  }).catch(blame('completion', completion.provider));
}

function providerOf(section: string, text: string): ProviderClass {
  const parsed = parseProviderClass(text);
  if (parsed) return parsed;
  throw new SettingsError([
    {
      setting: `${section}.provider`,
      value: JSON.stringify(text),
      allowed: `allowed: ${providerClass.allowed}`,
    },
  ]);
}

function blame(section: string, provider: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof UnusableClassError)) throw error;
    throw new SettingsError([
      { setting: `${section}.provider`, value: JSON.stringify(provider), allowed: error.message },
    ]);
  };
}

/** Returns the algorithm by which the Query Engine is to index vectors, by the settings. */
export function algorithmOf({
  algorithm,
  hnswM,
  hnswEfConstruction,
}: Settings['queryEngine']): VectorAlgorithm {
  switch (algorithm) {
    case 'flat':
      return { name: 'flat' };
    case 'hnsw':
      return { name: 'hnsw', m: hnswM, efConstruction: hnswEfConstruction };
  }
}
