import { createLlamaCacheEngine } from './adapters/llama-cache/cache-engine.js';
import { forgetState, keptBuilds } from './adapters/llama-cache/states.js';
import { createPromptCacheEngine } from './adapters/prompt-cache/cache-engine.js';
import { createCacheEngines, type CacheEngines, type LocalCaches } from './caches/cache-engines.js';
import { askForModel } from './local-models/find-model.js';
import { modelsAddressOf } from './local-models/models-address.js';
import { usesLocalModels } from './local-models/uses-local-models.js';
import { renderPrefix } from './models/prompt.js';
import type { Completer } from './ports.js';
import type { Settings } from './settings/schema.js';
import { countTokens } from './text/token-count.js';

/**
 * What holds named caches, by the settings.
 *
 * @param completer what answers from caches that are sent as prompts
 * @param limit is put around completers over local models
 */
export function openCacheEngines(
  settings: Settings,
  completer: Completer,
  limit: (completer: Completer) => Completer = (each) => each,
): CacheEngines {
  const local = usesLocalModels(settings) ? localCaches(settings, limit) : null;
  const prompt = createPromptCacheEngine({ completer, countTokens, renderPrefix });
  return createCacheEngines({ wanted: settings.caches.engine, prompt, local });
}

function localCaches(settings: Settings, limit: (completer: Completer) => Completer): LocalCaches {
  const address = modelsAddressOf(settings);
  const timeoutMilliseconds = settings.completion.timeoutSeconds * 1_000;
  return {
    askForModel: (name, signal) => askForModel(address, name, signal),
    kept: (signal) => keptBuilds(address, signal),
    forget: (id) => forgetState(address, id),
    engine: ({ model, window: contextWindow }) =>
      createLlamaCacheEngine({
        address,
        model,
        contextWindow,
        completerFrom: async (state) => {
          const { createOpenAICompleter } = await import('./adapters/openai/completer.js');
          return limit(
            createOpenAICompleter({
              apiKey: address.token,
              baseUrl: `${address.url}/v1`,
              model,
              name: `local:${model}`,
              contextWindow,
              timeoutMilliseconds,
              more: { state },
            }),
          );
        },
      }),
  };
}
