import { ImpossibleError, UnavailableError } from '../errors.js';
import type { ModelDescription } from '../local-models/description.js';
import { checkKind, WrongModelError, type ModelAnswer } from '../local-models/find-model.js';
import { isModelName } from '../local-models/model-files.js';
import { fitFence, randomFence } from '../models/prompt.js';
import type { CacheBuildId, CacheEngine, CallOptions, Passage } from '../ports.js';
import type { CacheEngineChoice } from './cache-record.js';

/** What can hold named caches. */
export interface CacheEngines {
  /**
   * Chooses for a new cache.
   * @throws ImpossibleError where the settings ask for a model that has read the texts, and there is no such model;
   * UnavailableError when the process with local models does not answer
   */
  choose(ggufFile: string, options?: CallOptions): Promise<CacheEngineChoice>;
  /** The engine of a cache. */
  of(choice: CacheEngineChoice): CacheEngine;
  /** The builds of which something is kept, wanted or not. @throws UnavailableError */
  kept(options?: CallOptions): Promise<CacheBuildId[]>;
  /** Removes what is kept of a build. @throws UnavailableError */
  forget(id: CacheBuildId): Promise<void>;
}

/** The fence of a cache's prompts; undefined where it is made of the texts. */
export function fenceOfCache(choice: CacheEngineChoice, passages: readonly Passage[]): string | undefined {
  return choice.name === 'llama' ? fitFence(choice.fence, passages) : undefined;
}

interface EngineOptions {
  readonly wanted: 'auto' | 'llama' | 'prompt';
  readonly prompt: CacheEngine;
  /** Null where there are no local models. */
  readonly local: LocalCaches | null;
}

export interface LocalCaches {
  askForModel(name: string, signal?: AbortSignal): Promise<ModelAnswer>;
  kept(signal?: AbortSignal): Promise<CacheBuildId[]>;
  forget(id: CacheBuildId): Promise<void>;
  /** @param choice `model`: file name and fingerprint */
  engine(choice: { readonly model: string; readonly window: number }): CacheEngine;
}

const COMPONENT = 'local models';

export function createCacheEngines({ wanted, prompt, local }: EngineOptions): CacheEngines {
  return {
    choose: async (ggufFile, { signal } = {}) => {
      if (wanted === 'prompt') return { name: 'prompt' };
      const model = local && (await findChatModel(local, ggufFile, signal));
      if (model instanceof Error || model === null) {
        if (wanted === 'auto') return { name: 'prompt' };
        throw new ImpossibleError(`gguf_file: ${model ? model.message : 'there are no local models here'}`);
      }
      const { id, fingerprint, window } = model;
      return { name: 'llama', model: `${id}@${fingerprint}`, window, fence: randomFence() };
    },
    of: (choice) => {
      if (choice.name === 'prompt') return prompt;
      if (!local) throw new UnavailableError(COMPONENT);
      return local.engine(choice);
    },
    kept: async ({ signal } = {}) => (local ? local.kept(signal) : []),
    forget: async (id) => {
      await local?.forget(id);
    },
  };
}

/** The chat model of this name, or why there is none. */
async function findChatModel(
  local: LocalCaches,
  name: string,
  signal: AbortSignal | undefined,
): Promise<ModelDescription | WrongModelError> {
  if (!isModelName(name)) return new WrongModelError('not the bare name of a .gguf file');
  try {
    const answer = await local.askForModel(name, signal);
    if ('error' in answer) throw new UnavailableError(COMPONENT, { cause: answer.error });
    checkKind(answer.description, 'chat');
    return answer.description;
  } catch (error) {
    if (error instanceof WrongModelError) return error;
    throw error;
  }
}
