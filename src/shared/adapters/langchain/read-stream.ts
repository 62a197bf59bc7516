import { z } from 'zod';
import { endOfCompletion, type FinishReason } from '../../models/finish-reason.js';
import type { ChatMessage } from '../../models/prompt.js';
import type { CompletionEvent } from '../../ports.js';
import { BadReplyError } from '../../provider-http/bad-reply-error.js';
import { countLongText } from '../../text/token-budget.js';
import { countTokens } from '../../text/token-count.js';
import { createDeadline, untilAborted } from '../../tools/aborting.js';
import { toWellFormed } from '../../json-values.js';
import { COMPLETION_PROVIDER, type Calls } from './calls.js';
import { describeFailure, unavailable } from './failures.js';

export interface Reading {
  readonly messages: readonly ChatMessage[];
  readonly maxTokens: number;
  readonly contextWindow: number;
  /** Tells whether the class always tells why an answer ended. */
  readonly tellsReason: () => boolean;
  /** Called when it has told that. */
  readonly onReason: () => void;
}

/** No text has more characters to a token on average. */
const CHARACTERS_PER_TOKEN = 16;
/** Characters that every completion may have: a single token can be as long as a line. */
const CHARACTER_ALLOWANCE = 4_096;
/** Messages to a token of the window. Models that think first send many without text. */
const MESSAGES_PER_TOKEN = 4;

/** Some classes ignore the length that they are asked for, and a model can repeat itself for ever. Reading ends all the same. */
export async function* readStream(stream: OpenStream, reading: Reading): AsyncIterable<CompletionEvent> {
  const { maxTokens, contextWindow, messages, tellsReason, onReason } = reading;
  const read: Read = { texts: [], chunks: [], left: CHARACTER_ALLOWANCE + CHARACTERS_PER_TOKEN * maxTokens };
  let finishReason: string | null = null;
  try {
    for (let received = 0; read.left >= 0; received += 1) {
      if (received > MESSAGES_PER_TOKEN * contextWindow) throw badReply('does not end');
      const { done, value } = await stream.next();
      if (done === true) break;
      const chunk = parseChunk(value);
      finishReason = chunk.finishReason ?? finishReason;
      const text = take(read, chunk);
      if (text !== '') yield { type: 'text', text };
    }
    if (finishReason !== null) onReason();
    else if (read.left >= 0 && tellsReason()) throw badReply('broke off');
  } finally {
    stream.close();
  }
  const told = endOf(read, finishReason);
  yield { type: 'end', finishReason: told, ...(await countsOf(read, messages)) };
}

/** @throws ContentFilterError, UnavailableError for an answer without a text */
function endOf({ left, texts }: Read, finishReason: string | null): FinishReason {
  if (left < 0) return 'length';
  try {
    return endOfCompletion(finishReason ?? '', { hasText: texts.some((text) => text.trim() !== '') });
  } catch (error) {
    if (!(error instanceof BadReplyError)) throw error;
    throw unavailable(COMPLETION_PROVIDER, describeFailure(error));
  }
}

/** The part of an answer that has come. */
interface Read {
  readonly texts: string[];
  /** The chunks that tell numbers of tokens. */
  readonly chunks: Chunk[];
  /** The number of characters that may still come; negative when the answer was cut. */
  left: number;
}

function take(read: Read, chunk: Chunk): string {
  if (chunk.promptTokens + chunk.completionTokens > 0) read.chunks.push(chunk);
  const text = chunk.text.length > read.left ? toWellFormed(chunk.text.slice(0, read.left)) : chunk.text;
  read.left -= chunk.text.length;
  if (text !== '') read.texts.push(text);
  return text;
}

function parseChunk(value: unknown): Chunk {
  const chunk = readChunk(value);
  if (chunk) return chunk;
  throw badReply('has something that is no message');
}

const badReply = (problem: string) =>
  unavailable(COMPLETION_PROVIDER, describeFailure(new BadReplyError(problem)));

type Counts = Pick<
  Extract<CompletionEvent, { type: 'end' }>,
  'promptTokens' | 'completionTokens' | 'promptTokensReused'
>;

/** Returns the numbers that the provider told, and our own counts in place of missing ones. */
async function countsOf({ texts, chunks }: Read, messages: readonly ChatMessage[]): Promise<Counts> {
  const sum = (numbers: readonly number[]) =>
    Math.round(numbers.reduce((total, number) => total + number, 0));
  const counted = (text: string) => countLongText(text, countTokens);
  const reused = chunks
    .map(({ promptTokensReused }) => promptTokensReused)
    .filter((number) => number !== null);
  const prompt = messages.map(({ content }) => content).join('\n');
  return {
    promptTokens: sum(chunks.map(({ promptTokens }) => promptTokens)) || (await counted(prompt)),
    completionTokens:
      sum(chunks.map(({ completionTokens }) => completionTokens)) || (await counted(texts.join(''))),
    ...(reused.length === 0 ? {} : { promptTokensReused: sum(reused) }),
  };
}

const count = z.number().nonnegative();
/** A number that the provider does not tell adds nothing to those of other messages. */
const usageSchema = z.object({
  input_tokens: count.catch(0),
  output_tokens: count.catch(0),
  input_token_details: z.object({ cache_read: count }).nullish().catch(null),
});
const NO_USAGE: z.infer<typeof usageSchema> = { input_tokens: 0, output_tokens: 0 };
const table = z.record(z.string(), z.unknown()).catch({});
const chunkSchema = z.object({
  content: z.union([z.string(), z.array(z.unknown())]),
  response_metadata: table.optional(),
  additional_kwargs: table.optional(),
  usage_metadata: usageSchema.catch(NO_USAGE),
});
const partSchema = z.union([
  z.string(),
  z.object({ type: z.enum(['text', 'text_delta', 'output_text']).optional(), text: z.string() }),
]);

/** A message of a stream, as far as it is used. The numbers of all messages of a stream add up. */
interface Chunk {
  readonly text: string;
  readonly finishReason: string | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Null when the provider does not say it. */
  readonly promptTokensReused: number | null;
}

/** @returns null for anything but a message of LangChain */
function readChunk(raw: unknown): Chunk | null {
  const parsed = chunkSchema.safeParse(raw);
  if (!parsed.success) return null;
  const {
    content,
    response_metadata: metadata,
    additional_kwargs: more,
    usage_metadata: usage,
  } = parsed.data;
  return {
    text: typeof content === 'string' ? content : content.map(textOf).join(''),
    finishReason: findReason(metadata ?? {}) ?? findReason(more ?? {}),
    promptTokens: usage.input_tokens,
    completionTokens: usage.output_tokens,
    promptTokensReused: usage.input_token_details?.cache_read ?? null,
  };
}

/** The text of a part. Thoughts, calls of tools and pictures have none. */
function textOf(part: unknown): string {
  const parsed = partSchema.safeParse(part);
  if (!parsed.success) return '';
  return typeof parsed.data === 'string' ? parsed.data : parsed.data.text;
}

/** The fields in which the packages tell why an answer ended. */
const REASONS = ['finish_reason', 'stop_reason', 'done_reason', 'finishReason', 'stopReason'];

function findReason(metadata: Readonly<Record<string, unknown>>): string | null {
  const places = [
    ...REASONS.map((name) => metadata[name]),
    // Bedrock.
    table.parse(metadata['messageStop'])['stopReason'],
    // OpenAI's Responses, which have a reason only where they were cut.
    table.parse(metadata['incomplete_details'])['reason'],
    metadata['status'] === 'completed' ? 'completed' : null,
  ];
  return places.filter((place) => typeof place === 'string').find((reason) => reason !== '') ?? null;
}

/** A stream that has begun. Whoever has opened it must close it. */
export interface OpenStream {
  /** Waits for the next message. @throws UnavailableError; the signal's reason when it aborts */
  next(): Promise<IteratorResult<unknown, unknown>>;
  /** Ends the request, if the class heeds its signal, and does not wait for it. */
  close(): void;
}

interface StreamOptions {
  readonly start: (options: { readonly signal: AbortSignal }) => Promise<AsyncIterable<unknown>>;
  readonly signal: AbortSignal | undefined;
  /** Called with the error of the class, as it is. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

/**
 * Begins a stream that is given up when it is silent for too long or the signal aborts, whether or not the class heeds the
 * signal that it is given. Its further events are ignored, and it holds a place until it has ended.
 */
export async function openStream(
  calls: Calls,
  { start, signal, onFailure }: StreamOptions,
): Promise<OpenStream> {
  const leave = await calls.enter(signal);
  const ending = new AbortController();
  const deadline = createDeadline(calls.timeoutMilliseconds, signal);
  const end = () => ending.abort(deadline.signal.reason);
  deadline.signal.addEventListener('abort', end, { once: true });
  let begun: Promise<unknown> = Promise.resolve();
  let iterator: AsyncIterator<unknown> | null = null;
  let isClosed = false;

  const close = () => {
    if (isClosed) return;
    isClosed = true;
    deadline.clear();
    deadline.signal.removeEventListener('abort', end);
    ending.abort(new DOMException('The answer is not read any further', 'AbortError'));
    // A class may throw where it should reject.
    const ended = Promise.resolve().then(() => iterator?.return?.());
    leave(Promise.allSettled([begun, ended]));
  };
  const waitFor = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    try {
      deadline.extend();
      const working = work();
      begun = working;
      return await untilAborted(working, deadline.signal);
    } catch (error) {
      onFailure?.(error);
      const translated = calls.translate(error, deadline, signal);
      close();
      throw translated;
    } finally {
      deadline.pause();
    }
  };

  const opened = await waitFor(() => start({ signal: ending.signal }));
  const opening = (iterator = opened[Symbol.asyncIterator]());
  return { next: () => waitFor(() => opening.next()), close };
}
