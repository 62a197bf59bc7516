import { join } from 'node:path';
import { createBuiltinCompleter } from './adapters/builtin/completer.js';
import { createBuiltinEmbedder } from './adapters/builtin/embedder.js';
import { UnusableClassError } from './adapters/langchain/load-class.js';
import { createDiskStorage, type DiskStorageOptions } from './adapters/disk-storage/disk-storage.js';
import type { VectorAlgorithm } from './adapters/query-engine-index/query-engine-index.js';
import type { ModelKind } from './local-models/description.js';
import { prefixesOf, type Prefixes } from './local-models/families.js';
import { findLocalModel, WrongModelError, type FindOptions } from './local-models/find-model.js';
import { modelsAddressOf } from './local-models/models-address.js';
import { recommendedEmbedding } from './local-models/recommended.js';
import type { Logger } from './observability/logger.js';
import type { Completer, Embedder, ObjectStorage } from './ports.js';
import { parseProviderClass, type ProviderClass } from './models/provider-class.js';
import { parseOptions } from './settings/constructor-options.js';
import { providerClass } from './settings/setting-kinds.js';
import { SettingsError } from './settings/settings-error.js';
import type { Problem } from './settings/rules.js';
import type { Settings } from './settings/schema.js';

/**
 * The adapters that the settings name, for the contexts of all processes. Clients of providers and of S3 are
 * imported where they are used, because loading them takes time and memory.
 */
export async function createEmbedder(settings: Settings, options: FindOptions): Promise<Embedder> {
  const { embedder, embedding, openaiApiKey } = settings;
  switch (embedder) {
    case 'builtin':
      return createBuiltinEmbedder();
    case 'openai': {
      const { createOpenAIEmbedder } = await import('./adapters/openai/embedder.js');
      return createOpenAIEmbedder({
        apiKey: openaiApiKey,
        baseUrl: embedding.baseUrl,
        model: embedding.model === '' ? 'text-embedding-3-small' : embedding.model,
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
  const name = embedding.model === '' ? recommendedEmbedding[settings.models.language].file : embedding.model;
  const model = await findModel(settings, { setting: 'embedding.model', name, kind: 'embedding' }, options);
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

/** A processor takes some seconds for so many tokens. What is in a request is embedded again when its answer is lost. */
const LOCAL_BATCH = { inputs: 32, tokens: 8_192 };

function localConnection(settings: Settings) {
  const { url, token } = modelsAddressOf(settings);
  return { apiKey: token, baseUrl: `${url}/v1` };
}

interface WantedModel {
  readonly setting: string;
  readonly name: string;
  readonly kind: ModelKind;
}

/** @throws SettingsError that names the setting and what to do */
async function findModel(settings: Settings, { setting, name, kind }: WantedModel, options: FindOptions) {
  try {
    return await findLocalModel(modelsAddressOf(settings), { name, kind }, options);
  } catch (error) {
    if (!(error instanceof WrongModelError)) throw error;
    const allowed = `must be a ${kind} model in the models folder, as \`npx quire models pull\` puts it there: ${error.message}`;
    throw new SettingsError([{ setting, value: JSON.stringify(name), allowed }]);
  }
}

/** What the settings say is put before texts, or what the family of the model wants. */
function prefixesFor({ embedding }: Settings, modelName: string): Prefixes {
  const known = prefixesOf(modelName);
  const { queryPrefix, documentPrefix } = embedding;
  return {
    query: queryPrefix === 'auto' ? known.query : queryPrefix,
    document: documentPrefix === 'auto' ? known.document : documentPrefix,
  };
}

export async function createCompleter(settings: Settings, options: FindOptions): Promise<Completer> {
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
        model: completion.model === '' ? 'gpt-4o-mini' : completion.model,
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
        timeoutMilliseconds: completion.timeoutSeconds * 1_000,
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

/** How the Query Engine is to index vectors, by the settings. */
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

/** @throws SettingsError when S3 answers that it refuses the settings; an S3 that is away is not waited for */
export async function createObjectStorage(
  settings: Settings,
  logger: Logger,
  disk: Omit<DiskStorageOptions, 'directory'> = {},
): Promise<ObjectStorage> {
  switch (settings.objectStorage) {
    case 'disk':
      return createDiskStorage({ directory: join(settings.dataDirectory, 'objects'), ...disk });
    case 's3':
      return createS3(settings, logger);
  }
}

async function createS3({ s3 }: Settings, logger: Logger): Promise<ObjectStorage> {
  const { createS3Storage } = await import('./adapters/s3-storage/s3-storage.js');
  const { accessKeyId, secretAccessKey, addressing } = s3;
  const storage = createS3Storage({
    bucket: s3.bucket,
    region: s3.region,
    endpoint: s3.endpoint === '' ? null : s3.endpoint,
    pathStyle: addressing === 'auto' ? s3.endpoint !== '' : addressing === 'path',
    credentials: accessKeyId === '' ? null : { accessKeyId, secretAccessKey },
    timeoutMilliseconds: s3.timeoutSeconds * 1_000,
    onLeftBehind: (error) => {
      logger.warn({ err: error }, 'parts of an upload left behind');
    },
  });
  const refusal = await storage.findRefusal();
  if (refusal) throw new SettingsError([problemOf(refusal, s3)]);
  return storage;
}

function problemOf(
  { about, code }: { about: 'bucket' | 'credentials' | 'region' | 'endpoint'; code: string },
  { bucket, region, endpoint }: Settings['s3'],
): Problem {
  const server = endpoint === '' ? 'Amazon S3' : new URL(endpoint).host;
  const said = `${server} answers ${code}`;
  switch (about) {
    case 'bucket':
      return { setting: 's3.bucket', value: JSON.stringify(bucket), allowed: `must exist; ${said}` };
    case 'region':
      return {
        setting: 's3.region',
        value: JSON.stringify(region),
        allowed: `must be the bucket's; ${said}`,
      };
    case 'endpoint':
      return { setting: 's3.endpoint', value: JSON.stringify(server), allowed: `must be an S3; ${said}` };
    case 'credentials':
      return {
        setting: 's3.access_key_id',
        value: null,
        allowed:
          `${said}: QUIRE_S3_ACCESS_KEY_ID and QUIRE_S3_SECRET_ACCESS_KEY, or what the AWS SDK finds without them, ` +
          `must be allowed to list the bucket "${bucket}" and to get, put and delete its objects`,
      };
  }
}

/** Tells the operator of processes with different storages how to give them the same one. */
export function storageAdvice({ objectStorage, dataDirectory, s3 }: Settings): string {
  switch (objectStorage) {
    case 'disk':
      return (
        `this process keeps them in the data folder ${dataDirectory}. With object_storage = "disk", API and workers ` +
        'need one data folder (QUIRE_DATA_DIR), on several hosts one on a shared volume; or set object_storage = "s3".'
      );
    case 's3':
      return (
        `this process keeps them in the bucket "${s3.bucket}". API and workers need the same object_storage, ` +
        's3.endpoint and s3.bucket.'
      );
  }
}
