import { ImpossibleError, UnavailableError } from '../errors.js';
import { checkKind, WrongModelError, type FoundModel } from '../local-models/processes/find-model.js';
import { isModelName } from '../local-models/model-files.js';
import { fitFence, randomFence } from '../models/prompt.js';
import type { CacheBuildId, CacheEngine, CallOptions, Passage } from '../ports.js';
import type { CacheEngineChoice } from './cache-record.js';

/** The engines that can hold named caches. */
export interface CacheEngines {
  /**
   * Chooses for a new build of a cache: the process that holds the last one, if it answers.
   * @throws ImpossibleError where the settings ask for a model that has read the texts, and there is no such model;
   * UnavailableError when the process with local models does not answer
   */
  choose(ggufFile: string, cache: CacheToHold, options?: CallOptions): Promise<CacheEngineChoice>;
  /** The engine of a cache. */
  of(choice: CacheEngineChoice): CacheEngine;
  /** Returns the builds of which an engine keeps state, wanted or not. @throws UnavailableError */
  kept(options?: CallOptions): Promise<CacheBuildId[]>;
  /** Removes the state that is kept of a build. @throws UnavailableError */
  forget(id: CacheBuildId): Promise<void>;
}

export interface CacheToHold {
  readonly ownerId: string;
  readonly name: string;
  /** The engine that holds it now, if any does. */
  readonly engine?: CacheEngineChoice | undefined;
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
  /** Asks the processes for a model, first the process that is to hold the cache. @throws WrongModelError */
  findModel(name: string, cache: CacheToHold, signal?: AbortSignal): Promise<FoundModel>;
  kept(signal?: AbortSignal): Promise<CacheBuildId[]>;
  forget(id: CacheBuildId): Promise<void>;
  engine(choice: LocalChoice): CacheEngine;
}

export type LocalChoice = Extract<CacheEngineChoice, { name: 'llama' }>;

const COMPONENT = 'local models';

export function createCacheEngines({ wanted, prompt, local }: EngineOptions): CacheEngines {
  return {
    choose: async (ggufFile, cache, { signal } = {}) => {
      if (wanted === 'prompt') return { name: 'prompt' };
      const found = local && (await findChatModel(local, { ggufFile, cache, signal }));
      if (found instanceof Error || found === null) {
        if (wanted === 'auto') return { name: 'prompt' };
        throw new ImpossibleError(`gguf_file: ${found ? found.message : 'there are no local models here'}`);
      }
      const { id, fingerprint, window } = found.description;
      const model = `${id}@${fingerprint}`;
      return { name: 'llama', model, process: found.url, window, fence: randomFence() };
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

/** The chat model of this name and the process that has it, or why there is none. */
async function findChatModel(
  local: LocalCaches,
  {
    ggufFile,
    cache,
    signal,
  }: {
    readonly ggufFile: string;
    readonly cache: CacheToHold;
    readonly signal: AbortSignal | undefined;
  },
): Promise<Exclude<FoundModel, { error: Error }> | WrongModelError> {
  if (!isModelName(ggufFile)) return new WrongModelError('not the bare name of a .gguf file');
  try {
    const found = await local.findModel(ggufFile, cache, signal);
    if ('error' in found) throw new UnavailableError(COMPONENT, { cause: found.error });
    checkKind(found.description, 'chat');
    return found;
  } catch (error) {
    if (error instanceof WrongModelError) return error;
    throw error;
  }
}
