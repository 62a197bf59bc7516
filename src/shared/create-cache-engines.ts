import { createLlamaCacheEngine } from './adapters/llama-cache/cache-engine.js';
import { parseStateId, stateIdOf, forgetState, keptStates } from './adapters/llama-cache/states.js';
import { createPromptCacheEngine } from './adapters/prompt-cache/cache-engine.js';
import {
  createCacheEngines,
  type CacheEngines,
  type CacheToHold,
  type LocalCaches,
} from './caches/cache-engines.js';
import {
  createBalancedFetch,
  modelsAddressesOf,
  stickyOrder,
  type ModelsAddress,
  type ModelsAddresses,
} from './local-models/processes/models-address.js';
import { askEachForModel } from './local-models/processes/find-model.js';
import { usesLocalModels } from './local-models/named-models.js';
import { renderPrefix } from './models/prompt.js';
import type { CacheBuildId, Completer } from './ports.js';
import type { Redis } from './redis/client.js';
import { readInstallation } from './data-set/data-set.js';
import type { Settings } from './settings/schema.js';
import { countTokens } from './text/token-count.js';

interface CacheEngineParts {
  readonly settings: Settings;
  /** The completer that answers from caches that are sent as prompts. */
  readonly completer: Completer;
  /** Wraps completers over local models. */
  readonly limit?: (completer: Completer) => Completer;
  readonly redis: Redis;
}

/** Opens the engines that hold named caches, by the settings. */
export function openCacheEngines(parts: CacheEngineParts): CacheEngines {
  const { settings, completer } = parts;
  const local = usesLocalModels(settings) ? localCaches(parts) : null;
  const prompt = createPromptCacheEngine({ completer, countTokens, renderPrefix });
  return createCacheEngines({ wanted: settings.caches.engine, prompt, local });
}

function localCaches({ settings, limit = (each) => each, redis }: CacheEngineParts): LocalCaches {
  const stateId = async (build: CacheBuildId) => stateIdOf(await readInstallation(redis), build);
  const addresses = modelsAddressesOf(settings);
  const substitutes = new Map(addresses.map((each) => [each, substitutesFor(each, addresses)]));
  const order = ({ ownerId, name, engine }: CacheToHold) => {
    const holder = engine?.name === 'llama' ? engine.process : null;
    return stickyOrder(addresses, JSON.stringify([ownerId, name]), holder);
  };
  const timeoutMilliseconds = settings.completion.timeoutSeconds * 1_000;
  return {
    findModel: (name, cache, signal) => askEachForModel(order(cache), name, signal),
    kept: async (signal) => {
      const ids = await keptStates(addresses, signal);
      const installation = await readInstallation(redis);
      return ids.map((id) => parseStateId(installation, id)).filter((build) => build !== null);
    },
    forget: async (build) => forgetState(addresses, await stateId(build)),
    engine: ({ model, window: contextWindow, process }) => {
      const address = addresses.find(({ url }) => url === process) ?? addresses[0];
      const others = substitutes.get(address) ?? null;
      const open = async (at: Connection) =>
        limit(await openCompleter({ ...at, model, contextWindow, timeoutMilliseconds }));
      return createLlamaCacheEngine({
        address,
        stateId,
        model,
        contextWindow,
        completerFrom: (state) => open({ address, more: { state } }),
        otherCompleter: others && (() => open(others)),
      });
    },
  };
}

/** All processes but one, which remember together which of them do not answer; null where there are none. */
function substitutesFor(holder: ModelsAddress, addresses: ModelsAddresses): Connection | null {
  const others = addresses.filter((each) => each !== holder);
  return hasAny(others) ? { address: others[0], fetch: createBalancedFetch(others) } : null;
}

const hasAny = (addresses: readonly ModelsAddress[]): addresses is ModelsAddresses => addresses.length > 0;

interface Connection {
  readonly address: ModelsAddress;
  readonly fetch?: typeof fetch;
  /** Further parameters of the request. */
  readonly more?: Readonly<Record<string, string>>;
}

interface CompleterParts extends Connection {
  readonly model: string;
  readonly contextWindow: number;
  readonly timeoutMilliseconds: number;
}

async function openCompleter({
  address: { url, token },
  model,
  ...options
}: CompleterParts): Promise<Completer> {
  const { createOpenAICompleter } = await import('./adapters/openai/completer.js');
  const name = `local:${model}`;
  return createOpenAICompleter({
    ...options,
    model,
    name,
    apiKey: token,
    baseUrl: `${url}/v1`,
    tellsCaller: true,
  });
}
