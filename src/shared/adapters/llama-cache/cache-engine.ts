import { UnavailableError } from '../../errors.js';
import type { ModelsAddress } from '../../local-models/processes/models-address.js';
import { renderBeginning } from '../../models/prompt.js';
import type {
  CacheBuildId,
  CacheEngine,
  CacheEvent,
  CallOptions,
  Completer,
  CompletionOptions,
  PreparedCache,
  Prompt,
} from '../../ports.js';
import { requestState, TooManyTokensError } from './states.js';

interface LlamaCacheEngineOptions {
  /** The process that holds the cache. */
  readonly address: ModelsAddress;
  readonly stateId: (build: CacheBuildId) => Promise<string>;
  /** File name and fingerprint. */
  readonly model: string;
  /** Tokens of texts, question and answer. */
  readonly contextWindow: number;
  /** A completer over the same model that may begin from a saved state. */
  readonly completerFrom: (state: string) => Promise<Completer>;
  /** A completer over the same model in other processes, which read everything; null where there are none. */
  readonly otherCompleter: (() => Promise<Completer>) | null;
}

/** Keeps the state of a local model after it has read the texts, so that a question costs reading the question alone. */
export function createLlamaCacheEngine(options: LlamaCacheEngineOptions): CacheEngine {
  const { address, stateId, model, contextWindow, completerFrom, otherCompleter } = options;
  return {
    name: 'llama',
    contextWindow,
    prepare: async (id, { passages, fence, from }, call = {}) => {
      const messages = renderBeginning({ passages, fence });
      const earlier = from === null ? {} : { from: await stateId({ ...id, build: from }) };
      try {
        const body = { model, messages, group: id.ownerId, ...earlier };
        return await writeState(address, await stateId(id), body, call);
      } catch (error) {
        if (error instanceof TooManyTokensError) return { tokenCount: error.tokens, bytes: 0 };
        throw error;
      }
    },
    query: (id, prompt, call) => {
      const question = { prompt, call };
      const answers = answer(async () => completerFrom(await stateId(id)), question);
      return otherCompleter ? unlessAway(answers, () => answer(otherCompleter, question)) : answers;
    },
  };
}

async function writeState(
  address: ModelsAddress,
  id: string,
  body: object,
  { signal, onProgress }: CallOptions & { readonly onProgress?: (share: number) => void },
): Promise<PreparedCache> {
  const end = await requestState(address, { method: 'PUT', id, body }, { signal, onProgress });
  if (!end) throw new Error('the answer of local models ended without its last line');
  return { tokenCount: end.tokens, bytes: end.bytes };
}

interface Question {
  readonly prompt: Prompt;
  readonly call: CompletionOptions | undefined;
}

async function* answer(
  open: () => Promise<Completer>,
  { prompt, call }: Question,
): AsyncIterable<CacheEvent> {
  const completer = await open();
  for await (const event of completer.complete(prompt, call)) {
    yield event.type === 'text' ? event : { ...event, tokensReused: event.promptTokensReused ?? 0 };
  }
}

/** The other answer where the first cannot begin. */
async function* unlessAway(
  first: AsyncIterable<CacheEvent>,
  other: () => AsyncIterable<CacheEvent>,
): AsyncIterable<CacheEvent> {
  let hasBegun = false;
  try {
    for await (const event of first) {
      hasBegun = true;
      yield event;
    }
    return;
  } catch (error) {
    if (hasBegun || !(error instanceof UnavailableError)) throw error;
  }
  yield* other();
}
