import type { ChatMessage } from '../../models/prompt.js';
import { endOfCompletion, type FinishReason } from '../../models/finish-reason.js';
import type { CompletionEvent } from '../../ports.js';
import { countLongText } from '../../text/token-budget.js';
import { countTokens } from '../../text/token-count.js';
import { toWellFormed } from '../../well-formed.js';
import { COMPLETION_PROVIDER } from './calls.js';
import { BadReplyError } from '../../provider-http/bad-reply-error.js';
import { describeFailure, unavailable } from './failures.js';
import type { OpenStream } from './open-stream.js';
import { readChunk, type Chunk } from './read-chunk.js';

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
  const sum = (numberOf: (chunk: Chunk) => number) =>
    Math.round(chunks.reduce((total, chunk) => total + numberOf(chunk), 0));
  const counted = (text: string) => countLongText(text, countTokens);
  const reused = chunks.some(({ promptTokensReused }) => promptTokensReused !== null);
  const prompt = messages.map(({ content }) => content).join('\n');
  return {
    promptTokens: sum(({ promptTokens }) => promptTokens) || (await counted(prompt)),
    completionTokens: sum(({ completionTokens }) => completionTokens) || (await counted(texts.join(''))),
    ...(reused ? { promptTokensReused: sum(({ promptTokensReused }) => promptTokensReused ?? 0) } : {}),
  };
}
