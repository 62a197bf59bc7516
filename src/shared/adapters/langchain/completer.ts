import { PromptTooLongError } from '../../errors.js';
import { sayNothingFound } from '../../models/nothing-found.js';
import { renderMessages, type ChatMessage } from '../../models/prompt.js';
import type { ProviderClass } from '../../models/provider-class.js';
import type { Completer, CompletionEvent, CompletionOptions } from '../../ports.js';
import type { TooLong } from '../../provider-http/too-long.js';
import { COMPLETION_PROVIDER, createCalls, type Calls } from './calls.js';
import { lengthOption, withDefaults } from './constructor-options.js';
import { describeFailure, namesParameter, tooLongOf } from './failures.js';
import { construct, loadClass, methodOf, UnusableClassError } from './load-class.js';
import { openStream, readStream, type OpenStream } from './read-stream.js';

export interface LangChainCompleterOptions {
  readonly provider: ProviderClass;
  readonly model: string;
  /** Options for the constructor. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Tokens of prompt and completion together. */
  readonly contextWindow: number;
  /** The provider may be silent for this long. */
  readonly timeoutMilliseconds: number;
}

/** More than a process has under way, so that answers which were left and have not ended yet keep no other from beginning. */
const STREAMS_AT_ONCE = 128;
/** Packages whose classes tell the reason for the end of every answer, so that one without it broke off. */
const TELLING = ['@langchain/openai'];

/** Completions of any chat model of LangChain. @throws UnusableClassError when there is no such class */
export async function createLangChainCompleter(options: LangChainCompleterOptions): Promise<Completer> {
  const { provider, model } = options;
  return createCompleterOver(await createChatModels(options), {
    ...options,
    name: `langchain:${provider.specifier}:${provider.className}:${model}`,
    tellsReason: TELLING.includes(provider.packageName),
  });
}

interface OverOptions extends Pick<LangChainCompleterOptions, 'contextWindow' | 'timeoutMilliseconds'> {
  readonly name: string;
  readonly tellsReason: boolean;
}

/** A completer over the instances of a class. */
export function createCompleterOver(models: ChatModels, options: OverOptions): Completer {
  const { name, contextWindow, timeoutMilliseconds } = options;
  const calls = createCalls({ component: COMPLETION_PROVIDER, atOnce: STREAMS_AT_ONCE, timeoutMilliseconds });
  let { tellsReason } = options;
  /** Some models refuse a temperature. They are asked without from then on. */
  let takesTemperature = true;

  const open = async (messages: readonly ChatMessage[], call: CompletionOptions): Promise<OpenStream> => {
    const { maxTokens, temperature, signal } = call;
    const isSent = temperature !== undefined && takesTemperature;
    const opened = await tryOpening(calls, models(isSent ? { maxTokens, temperature } : { maxTokens }), {
      messages,
      signal,
      mayRefuse: isSent,
    });
    if (opened !== 'refuses-temperature') return opened;
    const without = await startStream(calls, models({ maxTokens }), { messages, signal });
    takesTemperature = false;
    return without;
  };

  async function* complete(
    ...[prompt, call = {}]: Parameters<Completer['complete']>
  ): AsyncIterable<CompletionEvent> {
    if (prompt.passages.length === 0) {
      yield* sayNothingFound();
      return;
    }
    const messages = renderMessages(prompt);
    yield* readStream(await open(messages, call), {
      messages,
      maxTokens: call.maxTokens ?? contextWindow,
      contextWindow,
      tellsReason: () => tellsReason,
      onReason: () => {
        tellsReason = true;
      },
    });
  }
  return { model: name, contextWindow, complete };
}

interface Opening {
  readonly messages: readonly ChatMessage[];
  readonly signal: AbortSignal | undefined;
  /** Called with the error of the class, as it is. */
  readonly onFailure?: (error: unknown) => void;
}

/** @throws PromptTooLongError, UnavailableError */
async function startStream(calls: Calls, model: ChatModel, { messages, signal, onFailure }: Opening) {
  let tooLong: TooLong | null = null;
  const note = (error: unknown) => {
    tooLong ??= tooLongOf(error);
    onFailure?.(error);
  };
  try {
    const start = (call: { readonly signal: AbortSignal }) => model.stream([...messages], call);
    return await openStream(calls, { start, signal, onFailure: note });
  } catch (error) {
    throw promptTooLong(tooLong, error) ?? error;
  }
}

const promptTooLong = (tooLong: TooLong | null, cause: unknown): PromptTooLongError | null =>
  tooLong && new PromptTooLongError({ ...tooLong, cause });

/** @param mayRefuse whether a temperature is sent, which the model may refuse */
async function tryOpening(
  calls: Calls,
  model: ChatModel,
  { mayRefuse, ...opening }: Opening & { readonly mayRefuse: boolean },
): Promise<OpenStream | 'refuses-temperature'> {
  let refusal: unknown = null;
  const onFailure = (error: unknown) => {
    refusal = error;
  };
  try {
    return await startStream(calls, model, { ...opening, onFailure });
  } catch (error) {
    const isRefused = describeFailure(refusal).kind === 'refused';
    if (mayRefuse && isRefused && namesParameter(refusal, 'temperature')) return 'refuses-temperature';
    throw error;
  }
}

/** The part of LangChain's `BaseChatModel` that is used. Its chunks are checked when they are read. */
export interface ChatModel {
  stream(
    messages: { role: string; content: string }[],
    options: { readonly signal: AbortSignal },
  ): Promise<AsyncIterable<unknown>>;
}

const canStream = (made: unknown): made is ChatModel =>
  typeof made === 'object' && made !== null && 'stream' in made && typeof made.stream === 'function';

/** Gives the instance for a length and a temperature. */
type ChatModels = (call: Pick<CompletionOptions, 'maxTokens' | 'temperature'>) => ChatModel;

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
async function createChatModels(options: ChatModelsOptions): Promise<ChatModels> {
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
    if (!canStream(made)) throw new UnusableClassError(`${className} makes no chat models`);
    return made;
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
