import type { ProviderClass } from '../../models/provider-class.js';
import type { CompletionOptions } from '../../ports.js';
import { lengthOption, withDefaults } from './constructor-options.js';
import { construct, loadClass, methodOf, UnusableClassError } from './load-class.js';

/** The part of LangChain's `BaseChatModel` that is used. Its chunks are checked when they are read. */
export interface ChatModel {
  stream(
    messages: { role: string; content: string }[],
    options: { readonly signal: AbortSignal },
  ): Promise<AsyncIterable<unknown>>;
}

/** Gives the instance for a length and a temperature. */
export type ChatModels = (call: Pick<CompletionOptions, 'maxTokens' | 'temperature'>) => ChatModel;

interface ChatModelsOptions {
  readonly provider: ProviderClass;
  readonly model: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly timeoutMilliseconds: number;
}

const MAX_INSTANCES = 16;

/**
 * Makes instances of a chat model's class. Few classes take a length or a temperature for a single call, and all take them
 * in their constructor: each pair of values has an instance, and the 16 latest are kept.
 * @throws UnusableClassError when there is no such class, or when it refuses the options
 */
export async function createChatModels(options: ChatModelsOptions): Promise<ChatModels> {
  const { provider, model } = options;
  const { packageName, className } = provider;
  const type = await loadClass(provider);
  const isChatModel = methodOf(type, '_modelType')?.() === 'base_chat_model';
  if (!isChatModel || !methodOf(type, 'stream')) {
    throw new UnusableClassError(`${className} is no BaseChatModel of LangChain`);
  }
  const given = withDefaults(packageName, options.options, options);
  const create: ChatModels = ({ maxTokens, temperature }) => {
    const length = maxTokens === undefined ? {} : { [lengthOption(packageName)]: maxTokens };
    const made = construct(type, {
      ...given,
      model,
      ...length,
      ...(temperature === undefined ? {} : { temperature }),
    });
    // @NOTE its class has this method, and its result is checked.
    return made as ChatModel;
  };
  create({});
  return keepLatest(create);
}

/** A map is in the order of its entries: the first is the least recently used. */
function keepLatest(create: ChatModels): ChatModels {
  const kept = new Map<string, ChatModel>();
  return ({ maxTokens, temperature }) => {
    const key = JSON.stringify([maxTokens, temperature]);
    const model = kept.get(key) ?? create({ maxTokens, temperature });
    kept.delete(key);
    kept.set(key, model);
    const [oldest] = kept.keys();
    if (kept.size > MAX_INSTANCES && oldest !== undefined) kept.delete(oldest);
    return model;
  };
}
