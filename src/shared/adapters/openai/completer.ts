import type OpenAI from 'openai';
import { z } from 'zod';
import type { Deadline } from '../../tools/aborting.js';
import { ContentFilterError, PromptTooLongError, UnavailableError } from '../../errors.js';
import { endOfCompletion, type FinishReason } from '../../models/finish-reason.js';
import { sayNothingFound } from '../../models/nothing-found.js';
import { renderMessages, type ChatMessage } from '../../models/prompt.js';
import type { Completer, CompletionEvent, CompletionOptions, Prompt } from '../../ports.js';
import { countLongText } from '../../text/token-budget.js';
import { countTokens } from '../../text/token-count.js';
import { toWellFormed } from '../../json-values.js';
import { BadReplyError } from '../../provider-http/bad-reply-error.js';
import { createOpenAIClient, type OpenAIConnection } from './client.js';
import { RefusedError, tooLongOf } from './provider-errors.js';

interface OpenAICompleterOptions extends OpenAIConnection {
  readonly model: string;
  /** The name of the model in answers and logs; its name at the provider by default. */
  readonly name?: string;
  /** Tokens of prompt and completion together. */
  readonly contextWindow: number;
  /** True if the server is told for whom it answers (`user`): its callers take turns there. */
  readonly tellsCaller?: boolean;
  /** Fields that a server wants beyond the fields of OpenAI's API. */
  readonly more?: Readonly<Record<string, string>>;
}

const COMPONENT = 'completion provider';
/** No text has more characters to a token on average. */
const CHARACTERS_PER_TOKEN = 16;
/** Characters that every completion may have: a single token can be as long as a line. */
const CHARACTER_ALLOWANCE = 4_096;
/** Events to a token of the window. Models that think first send many without text. */
const EVENTS_PER_TOKEN = 4;

const usageSchema = z.object({
  prompt_tokens: z.int().nonnegative(),
  completion_tokens: z.int().nonnegative(),
  prompt_tokens_details: z.object({ cached_tokens: z.int().nonnegative().nullish() }).nullish(),
});
const wordsSchema = z.object({ content: z.string().nullish(), refusal: z.string().nullish() }).nullish();
const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        delta: wordsSchema,
        /** The message that servers without streaming send in its place. */
        message: wordsSchema,
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: usageSchema.nullish().catch(null),
});

/** Parameters that some models and servers refuse. The lesson of a refusal is kept for later requests. */
interface Dialect {
  readonly lengthParameter: 'max_tokens' | 'max_completion_tokens';
  readonly hasTemperature: boolean;
  readonly hasStreamOptions: boolean;
  /** The longest completion that the model makes, in tokens, where it has said so. */
  readonly completionLimit: number;
}

const FIRST_DIALECT: Dialect = {
  lengthParameter: 'max_tokens',
  hasTemperature: true,
  hasStreamOptions: true,
  completionLimit: Infinity,
};

/** Completions from any server that speaks OpenAI's protocol. Replies are always streamed. */
export function createOpenAICompleter(options: OpenAICompleterOptions): Completer {
  const { model, contextWindow } = options;
  const client = createOpenAIClient(COMPONENT, options, 'lines');
  let dialect = FIRST_DIALECT;

  const open = async (messages: ChatMessage[], call: CompletionOptions, tried: Dialect) => {
    try {
      const opened = await client.request(
        (openai, request) =>
          openai.chat.completions.create(
            { model, messages, stream: true, ...parametersOf(tried, call), ...moreOf(options, call) },
            request,
          ),
        call.signal,
      );
      dialect = tried;
      return opened;
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      const next = nextDialect(tried, error);
      if (next) return open(messages, call, next);
      throw ofRefusal(error);
    }
  };

  async function* complete(prompt: Prompt, call: CompletionOptions = {}): AsyncIterable<CompletionEvent> {
    if (prompt.passages.length === 0) {
      yield* sayNothingFound();
      return;
    }
    const messages = renderMessages(prompt);
    const opened = await open(messages, call, dialect);
    yield* readStream(opened, {
      messages,
      maxCharacters: CHARACTER_ALLOWANCE + CHARACTERS_PER_TOKEN * (call.maxTokens ?? contextWindow),
      maxEvents: EVENTS_PER_TOKEN * contextWindow,
      translate: (error) => client.translate(error, opened.deadline, call.signal),
    });
  }

  return { model: options.name ?? `openai:${model}`, contextWindow, complete };
}

const moreOf = ({ more, tellsCaller = false }: OpenAICompleterOptions, { callerId }: CompletionOptions) => ({
  ...(tellsCaller && callerId !== undefined ? { user: callerId } : {}),
  ...more,
});

interface Reading {
  readonly messages: readonly ChatMessage[];
  /** A completion is cut when it is longer. */
  readonly maxCharacters: number;
  /** A stream with more events does not end by itself. */
  readonly maxEvents: number;
  readonly translate: (error: unknown) => Error;
}

/** Some servers ignore the length that they are asked for, and a model can repeat itself for ever. Reading ends all the same. */
async function* readStream(
  { reply, deadline }: { readonly reply: AsyncIterable<unknown>; readonly deadline: Deadline },
  { messages, maxCharacters, maxEvents, translate }: Reading,
): AsyncIterable<CompletionEvent> {
  const texts: string[] = [];
  let left = maxCharacters;
  let events = 0;
  let finishReason: string | null = null;
  let told: FinishReason;
  let usage: z.infer<typeof usageSchema> | null = null;
  try {
    deadline.extend();
    for await (const raw of reply) {
      deadline.pause();
      const chunk = readChunk(raw);
      usage = chunk.usage ?? usage;
      finishReason = chunk.finishReason ?? finishReason;
      const text = chunk.text.length > left ? toWellFormed(chunk.text.slice(0, left)) : chunk.text;
      left -= chunk.text.length;
      if (text !== '') {
        texts.push(text);
        yield { type: 'text', text };
      }
      if (left < 0) {
        finishReason = 'length';
        break;
      }
      events += 1;
      if (events > maxEvents) throw new BadReplyError('does not end');
      deadline.extend();
    }
    // OpenAI's client ends an aborted or broken stream like a whole one.
    if (finishReason === null) throw new BadReplyError('broke off');
    told = endOfCompletion(finishReason, { hasText: texts.some((text) => text.trim() !== '') });
  } catch (error) {
    throw ofStream(error, { translate, hasBegun: texts.length > 0 });
  } finally {
    deadline.clear();
  }
  yield { type: 'end', finishReason: told, ...(usage ? billed(usage) : await counted(messages, texts)) };
}

/**
 * A provider that refuses a request in the middle of its answer cannot be asked in another way any more. Some answer 200 first,
 * and say then that the prompt is too long.
 */
function ofStream(
  error: unknown,
  { translate, hasBegun }: { readonly translate: Reading['translate']; readonly hasBegun: boolean },
): Error {
  if (error instanceof ContentFilterError) return error;
  const tooLong = hasBegun ? null : tooLongOf(error);
  if (tooLong) return new PromptTooLongError({ ...tooLong, cause: translate(error) });
  const translated = translate(error);
  return translated instanceof RefusedError
    ? new UnavailableError(COMPONENT, { cause: translated })
    : translated;
}

function readChunk(raw: unknown) {
  const { choices, usage = null } = chunkSchema.parse(raw);
  const choice = choices?.[0];
  const words = choice?.delta ?? choice?.message;
  const text = words?.content ?? words?.refusal ?? '';
  return { text, finishReason: choice?.finish_reason ?? null, usage };
}

function ofRefusal(refusal: RefusedError): Error {
  if (refusal.tooLong) return new PromptTooLongError({ ...refusal.tooLong, cause: refusal });
  if (refusal.isFiltered) return new ContentFilterError({ cause: refusal });
  return new UnavailableError(COMPONENT, { cause: refusal });
}

type Parameters = Partial<Omit<OpenAI.ChatCompletionCreateParamsStreaming, 'model' | 'messages' | 'stream'>>;

function parametersOf(dialect: Dialect, { maxTokens, temperature }: CompletionOptions): Parameters {
  return {
    ...(maxTokens === undefined
      ? {}
      : { [dialect.lengthParameter]: Math.min(maxTokens, dialect.completionLimit) }),
    ...(temperature === undefined || !dialect.hasTemperature ? {} : { temperature }),
    ...(dialect.hasStreamOptions ? { stream_options: { include_usage: true } } : {}),
  };
}

function nextDialect(
  dialect: Dialect,
  { parameters: refused, completionLimit, tooLong }: RefusedError,
): Dialect | null {
  if (tooLong) return null;
  if (completionLimit !== null) {
    return completionLimit < dialect.completionLimit ? { ...dialect, completionLimit } : null;
  }
  if (dialect.lengthParameter === 'max_tokens' && refused.includes('max_tokens')) {
    return { ...dialect, lengthParameter: 'max_completion_tokens' };
  }
  if (dialect.hasTemperature && refused.includes('temperature')) return { ...dialect, hasTemperature: false };
  const isStreamOptions = refused.some((name) => name.startsWith('stream_options'));
  return dialect.hasStreamOptions && isStreamOptions ? { ...dialect, hasStreamOptions: false } : null;
}

type Counts = Pick<
  Extract<CompletionEvent, { type: 'end' }>,
  'promptTokens' | 'completionTokens' | 'promptTokensReused'
>;

function billed(usage: z.infer<typeof usageSchema>): Counts {
  const reused = usage.prompt_tokens_details?.cached_tokens ?? null;
  return {
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens,
    ...(reused === null ? {} : { promptTokensReused: reused }),
  };
}

/** Counts the tokens for servers that do not send usage. */
async function counted(messages: readonly ChatMessage[], texts: readonly string[]): Promise<Counts> {
  const prompt = messages.map(({ content }) => content).join('\n');
  return {
    promptTokens: await countLongText(prompt, countTokens),
    completionTokens: await countLongText(texts.join(''), countTokens),
  };
}
