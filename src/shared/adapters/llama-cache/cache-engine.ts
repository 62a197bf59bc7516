import type { ModelsAddress } from '../../local-models/models-address.js';
import { renderBeginning } from '../../models/prompt.js';
import type {
  CacheEngine,
  CacheEvent,
  CallOptions,
  Completer,
  CompletionOptions,
  PreparedCache,
  Prompt,
} from '../../ports.js';
import { requestState, TooManyTokensError } from './request-state.js';
import { stateIdOf } from './state-id.js';

interface LlamaCacheEngineOptions {
  readonly address: ModelsAddress;
  /** File name and fingerprint. */
  readonly model: string;
  /** Tokens of texts, question and answer. */
  readonly contextWindow: number;
  /** A completer over the same model that may begin from a saved state. */
  readonly completerFrom: (state: string) => Promise<Completer>;
}

/** Keeps what a local model knows after it has read the texts, so that a question costs reading the question alone. */
export function createLlamaCacheEngine(options: LlamaCacheEngineOptions): CacheEngine {
  const { address, model, contextWindow, completerFrom } = options;
  return {
    name: 'llama',
    contextWindow,
    prepare: async (id, { passages, fence, from }, call = {}) => {
      const messages = renderBeginning({ passages, fence });
      const earlier = from === null ? {} : { from: stateIdOf({ ...id, build: from }) };
      try {
        return await writeState(address, stateIdOf(id), { model, messages, ...earlier }, call);
      } catch (error) {
        if (error instanceof TooManyTokensError) return { tokenCount: error.tokens, bytes: 0 };
        throw error;
      }
    },
    query: (id, prompt, call) => answer(() => completerFrom(stateIdOf(id)), prompt, call),
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

async function* answer(
  open: () => Promise<Completer>,
  prompt: Prompt,
  call: CompletionOptions | undefined,
): AsyncIterable<CacheEvent> {
  const completer = await open();
  for await (const event of completer.complete(prompt, call)) {
    yield event.type === 'text' ? event : { ...event, tokensReused: event.promptTokensReused ?? 0 };
  }
}
