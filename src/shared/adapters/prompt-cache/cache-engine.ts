import { roomForCompletion } from '../../models/prompt.js';
import type { CacheEngine, CacheEvent, Completer, CompletionOptions, Passage, Prompt } from '../../ports.js';
import { countLongText, type CountTokens } from '../../text/token-budget.js';

interface PromptCacheEngineOptions {
  readonly completer: Completer;
  readonly countTokens: CountTokens;
  /** The text with which every prompt over these passages begins. */
  readonly renderPrefix: (passages: readonly Passage[]) => string;
}

/** Keeps no state: each query sends the same beginning again, which the provider may remember. */
export function createPromptCacheEngine(options: PromptCacheEngineOptions): CacheEngine {
  const { completer, countTokens, renderPrefix } = options;
  const { contextWindow } = completer;
  return {
    name: 'prompt',
    contextWindow,
    prepare: async (_id, { passages }, { signal } = {}) => {
      signal?.throwIfAborted();
      return { tokenCount: await countLongText(renderPrefix(passages), countTokens), bytes: 0 };
    },
    query: (_id, prompt, call) => answer(prompt, call),
  };

  async function* answer(prompt: Prompt, call: CompletionOptions = {}): AsyncIterable<CacheEvent> {
    const { maxTokens } = call;
    const room =
      maxTokens === undefined
        ? {}
        : { maxTokens: await roomForCompletion(prompt, { contextWindow, maxTokens, countTokens }) };
    for await (const event of completer.complete(prompt, { ...call, ...room })) {
      yield event.type === 'text' ? event : { ...event, tokensReused: event.promptTokensReused ?? 0 };
    }
  }
}
