import type { Llama, LlamaContext, LlamaModel } from 'node-llama-cpp';
import { toError } from '../../shared/errors.js';
import type { ModelKind } from '../../shared/local-models/description.js';
import type { Fingerprint } from '../../shared/local-models/fingerprints.js';
import type { ModelFile } from '../../shared/local-models/model-files.js';
import { createChatModel, type ChatModel } from './chat-model.js';
import { openChatTemplate } from './chat-prompt.js';
import { createEmbeddingModel, type EmbeddingModel } from './embedding-model.js';
import { ModelError } from './model-error.js';
import type { ModelHeader } from './model-header.js';
import { STEP } from './prefill.js';
import { createRankingModel, type RankingModel } from './ranking-model.js';
import type { StateFiles } from './saved-states.js';
import { openSlots } from './slots.js';
import { createTurns, type Turns } from './turns.js';

/** What a model file is used for, and what it then offers. */
export interface ModelUses {
  readonly embedding: EmbeddingModel;
  readonly ranking: RankingModel;
  readonly chat: ChatModel;
}

export interface OpenModel<Kind extends ModelKind = ModelKind> {
  readonly use: ModelUses[Kind];
  readonly turns: Turns;
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
}

export interface OpenRequest {
  readonly file: ModelFile;
  readonly fingerprint: Fingerprint;
  readonly header: ModelHeader;
}

export const windowOf = ({ window }: ModelHeader, { windowTokens }: EngineLimits): number =>
  Math.min(window, windowTokens);

/** What a model takes of the memory in this use, in bytes, as the engine estimates it. */
export async function estimateBytes(
  { llama, limits }: OpenParts,
  header: ModelHeader,
  kind: ModelKind,
): Promise<number> {
  const { GgufInsights } = await import('node-llama-cpp');
  const insights = await GgufInsights.from(header.info, await llama());
  const weights = await insights.estimateModelResourceRequirementsV2({ gpuLayers: 0 });
  const context = await insights.estimateContextResourceRequirementsV2({
    contextSize: windowOf(header, limits),
    modelGpuLayers: 0,
    sequences: 1,
    isEmbeddingContext: kind !== 'chat',
    ...(kind === 'chat' ? CHAT_CONTEXT : {}),
  });
  const contexts = kind === 'chat' ? limits.slots : limits.threads;
  return weights.cpuRam + contexts * context.cpuRam;
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
    const opened: Record<ModelKind, () => Promise<Omit<OpenModel, 'close'>>> = {
      embedding: () => openEmbedding(parts, request, model),
      ranking: () => openRanking(parts, request, model),
      chat: () => openChat(parts, request, model),
    };
    // @NOTE the record gives each kind its own use, which its type cannot say
    return { ...(await opened[kind]()), close: () => model.dispose() } as OpenModel<Kind>;
  } catch (error) {
    await model.dispose();
    throw error;
  }
}

function checkKind({ kind: made }: ModelHeader, kind: ModelKind): void {
  if (kind === made || (made === 'chat' && kind === 'embedding')) return;
  throw new ModelError('wrong_kind', `the model is made for ${made}, not for ${kind}`, { field: 'model' });
}

/** As many contexts of one thread as there are threads: threads of one context wait for each other, and do so spinning. */
async function openEmbedding({ limits }: OpenParts, { header }: OpenRequest, model: LlamaModel) {
  const window = windowOf(header, limits);
  const contexts = await Promise.all(
    Array.from({ length: limits.threads }, () =>
      model.createEmbeddingContext({ contextSize: window, threads: 1 }),
    ),
  );
  const turns = createTurns({ atOnce: contexts.length, maxWaiting: limits.maxWaiting });
  return { use: createEmbeddingModel({ model, contexts, window, turns }), turns };
}

async function openRanking({ limits }: OpenParts, { header }: OpenRequest, model: LlamaModel) {
  const contexts = await Promise.all(
    Array.from({ length: limits.threads }, () =>
      model.createRankingContext({ contextSize: windowOf(header, limits), threads: 1 }),
    ),
  );
  const turns = createTurns({ atOnce: contexts.length, maxWaiting: limits.maxWaiting });
  return { use: createRankingModel({ contexts, turns }), turns };
}

async function openChat(
  { limits, states, onRestored }: OpenParts,
  { header, fingerprint }: OpenRequest,
  model: LlamaModel,
) {
  const contextSize = windowOf(header, limits);
  const contexts: LlamaContext[] = [];
  for (let slot = 0; slot < limits.slots; slot += 1)
    contexts.push(
      await model.createContext({ contextSize, sequences: 1, threads: limits.threads, ...CHAT_CONTEXT }),
    );
  // Building caches never takes the last place for answers, where there is more than one.
  const background = Math.max(1, limits.slots - 1);
  const turns = createTurns({ atOnce: limits.slots, background, maxWaiting: limits.maxWaiting });
  const slots = await openSlots({ contexts, turns, onRestored });
  const template = await openChatTemplate(model);
  return { use: createChatModel({ llama: model.llama, model, template, slots, states, fingerprint }), turns };
}
