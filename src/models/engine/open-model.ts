import type { Llama, LlamaContext, LlamaModel } from 'node-llama-cpp';
import { z } from 'zod';
import { toError } from '../../shared/errors.js';
import type { ModelKind } from '../../shared/local-models/description.js';
import { importEngine, NoEngineError } from '../../shared/local-models/import-engine.js';
import type { Logger } from '../../shared/observability/logger.js';
import { createChatModel, type ChatModel } from './chat/chat-model.js';
import { openChatTemplate } from './chat/chat-template.js';
import { STEP } from './chat/prefill.js';
import type { StateFiles } from './chat/saved-states.js';
import { openSlots } from './chat/slots.js';
import {
  createEmbeddingModel,
  createRankingModel,
  type EmbeddingModel,
  type RankingModel,
} from './text-models.js';
import type { KnownFile } from './model-catalog.js';
import { ModelError } from './model-error.js';
import { windowOf, type ModelHeader } from './model-header.js';
import { createModelTurns, type ModelTurns } from './model-turns.js';

/** The uses of a model file, and the model for each of them. */
export interface ModelUses {
  readonly embedding: EmbeddingModel;
  readonly ranking: RankingModel;
  readonly chat: ChatModel;
}

export interface OpenModel<Kind extends ModelKind = ModelKind> {
  readonly use: ModelUses[Kind];
  readonly turns: ModelTurns;
  close(): Promise<void>;
}

export interface EngineLimits {
  /** Threads for all models together. */
  readonly threads: number;
  /** The largest window of a model, in tokens. */
  readonly windowTokens: number;
  /** Conversations that a chat model holds at once. */
  readonly slots: number;
  readonly maxWaiting: number;
}

export interface OpenParts {
  /** Loads the engine at the first call. @throws NoEngineError */
  readonly llama: () => Promise<Llama>;
  readonly limits: EngineLimits;
  readonly states: StateFiles;
  readonly onRestored: (milliseconds: number) => void;
  /** Called each time that a conversation gives way to another. */
  readonly onGaveWay: () => void;
}

export interface OpenRequest extends KnownFile {
  readonly header: ModelHeader;
}

/**
 * The bytes that the engine's own estimates leave out, measured with node-llama-cpp 3.22.1 and vocabularies of 30,000 to
 * 250,000 tokens: its tables of the vocabulary, and the memory of a context for embeddings or ranking for each token of it.
 */
const VOCABULARY_BYTES = { model: 1_536, context: 512 };

/** Returns the memory of a model in this use, in bytes: the engine's estimate, and its vocabulary. */
export async function estimateBytes(
  { llama, limits }: OpenParts,
  header: ModelHeader,
  kind: ModelKind,
): Promise<number> {
  const { GgufInsights } = await import('node-llama-cpp');
  const insights = await GgufInsights.from(header.info, await llama());
  const weights = await insights.estimateModelResourceRequirementsV2({ gpuLayers: 0 });
  const context = await insights.estimateContextResourceRequirementsV2({
    contextSize: windowOf(header, limits.windowTokens),
    modelGpuLayers: 0,
    sequences: 1,
    isEmbeddingContext: kind !== 'chat',
    ...(kind === 'chat' ? CHAT_CONTEXT : {}),
  });
  const tokens = vocabularySize(header);
  const modelBytes = weights.cpuRam + VOCABULARY_BYTES.model * tokens;
  if (kind === 'chat') return modelBytes + limits.slots * context.cpuRam;
  return modelBytes + limits.threads * (context.cpuRam + VOCABULARY_BYTES.context * tokens);
}

/** Not every file says it, whatever the engine's types say. */
const vocabularySchema = z.object({
  tokenizer: z.object({ ggml: z.object({ tokens: z.custom<readonly unknown[]>(Array.isArray) }) }),
});

function vocabularySize({ info }: ModelHeader): number {
  const { data } = vocabularySchema.safeParse(info.metadata);
  return data ? data.tokenizer.ggml.tokens.length : 0;
}

/**
 * On the processor, flash attention is fast for 64 tokens at once and slow for fewer: after 4,000 tokens, the rest of a question
 * took 16 times as long with it, and each token of the answer three times. It reads whole steps faster, which a cache is for
 * doing once. Nothing reads more at once than a step, so that no more memory is reserved for it.
 */
const CHAT_CONTEXT = { flashAttention: false, batchSize: STEP };

/** @throws ModelError `invalid_model` where the engine cannot load the file, `wrong_kind` where it is made for something else */
export async function openModel<Kind extends ModelKind>(
  parts: OpenParts,
  request: OpenRequest,
  kind: Kind,
): Promise<OpenModel<Kind>> {
  checkKind(request.header, kind);
  const llama = await parts.llama();
  const model = await llama.loadModel({ modelPath: request.file.path }).catch((error: unknown) => {
    throw new ModelError('invalid_model', 'the engine cannot load the model file', {
      field: 'model',
      cause: toError(error),
    });
  });
  try {
    const open: { readonly [Each in ModelKind]: () => Promise<Omit<OpenModel<Each>, 'close'>> } = {
      embedding: () => openEmbedding(parts, request, model),
      ranking: () => openRanking(parts, request, model),
      chat: () => openChat(parts, request, model),
    };
    const { use, turns } = await open[kind]();
    return { use, turns, close: () => model.dispose() };
  } catch (error) {
    await model.dispose();
    throw error;
  }
}

function checkKind({ kind: made }: ModelHeader, kind: ModelKind): void {
  if (kind === made || (made === 'chat' && kind === 'embedding')) return;
  throw new ModelError('wrong_kind', `the model is made for ${made}, not for ${kind}`, { field: 'model' });
}

/**
 * Opens as many contexts of one thread as there are threads: threads of one context wait for each other, and do so
 * spinning.
 */
async function openEmbedding({ limits }: OpenParts, { header }: OpenRequest, model: LlamaModel) {
  const window = windowOf(header, limits.windowTokens);
  const contexts = await Promise.all(
    Array.from({ length: limits.threads }, () =>
      model.createEmbeddingContext({ contextSize: window, threads: 1 }),
    ),
  );
  const turns = createModelTurns({ atOnce: contexts.length, maxWaiting: limits.maxWaiting });
  return { use: createEmbeddingModel({ model, contexts, window, turns }), turns };
}

async function openRanking({ limits }: OpenParts, { header }: OpenRequest, model: LlamaModel) {
  const contexts = await Promise.all(
    Array.from({ length: limits.threads }, () =>
      model.createRankingContext({ contextSize: windowOf(header, limits.windowTokens), threads: 1 }),
    ),
  );
  const turns = createModelTurns({ atOnce: contexts.length, maxWaiting: limits.maxWaiting });
  return { use: createRankingModel({ contexts, turns }), turns };
}

async function openChat(
  { limits, states, onRestored, onGaveWay }: OpenParts,
  { header, fingerprint }: OpenRequest,
  model: LlamaModel,
) {
  const contextSize = windowOf(header, limits.windowTokens);
  const contexts: LlamaContext[] = [];
  for (let slot = 0; slot < limits.slots; slot += 1)
    contexts.push(
      await model.createContext({ contextSize, sequences: 1, threads: limits.threads, ...CHAT_CONTEXT }),
    );
  // Building caches never takes the last place for answers, where there is more than one.
  const background = Math.max(1, limits.slots - 1);
  const turns = createModelTurns({ atOnce: limits.slots, background, maxWaiting: limits.maxWaiting });
  const slots = await openSlots({ contexts, turns, onRestored });
  const template = await openChatTemplate(model);
  const { llama } = model;
  return {
    use: createChatModel({ llama, model, template, slots, states, fingerprint, onGaveWay }),
    turns,
  };
}

interface LlamaOptions {
  /** Threads for all models together; 0 for one a core. */
  readonly threads: number;
  readonly logger: Logger;
}

/**
 * Loads llama.cpp as its packages bring it. Nothing is built or downloaded, and only the processor is used.
 * @throws NoEngineError that names the package to install
 */
export async function openLlama({ threads, logger }: LlamaOptions): Promise<Llama> {
  const { getLlama, LlamaLogLevel } = await importEngine();
  return getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    ...(threads > 0 ? { maxThreads: threads } : {}),
    logLevel: LlamaLogLevel.warn,
    // Its messages are about files and memory, never about texts.
    logger: (level, message) => {
      const text = message.trim();
      if (text !== '') logger.debug({ level, message: text }, 'llama.cpp');
    },
  }).catch((error: unknown) => {
    throw new NoEngineError(
      'the package node-llama-cpp has no program for this platform: it runs on Linux (glibc), macOS and Windows, on x64 and arm64',
      { cause: toError(error) },
    );
  });
}
