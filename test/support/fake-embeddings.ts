import { z } from 'zod';
import { countTokens } from '../../src/shared/text/token-count.js';
import {
  sendError,
  sendJson,
  sendTooLong,
  type Exchange,
  type FakeOpenAIConfiguration,
} from './fake-exchange.js';

const bodySchema = z.object({
  input: z.union([z.string(), z.array(z.string()).min(1)]),
  encoding_format: z.enum(['float', 'base64']).default('float'),
  dimensions: z.int().positive().optional(),
});

/** Checks a request as OpenAI does, and answers it with vectors of hashed words. */
export function answerEmbeddings({ request, response, configuration, stats }: Exchange): void {
  stats.embeddingRequests += 1;
  const parsed = bodySchema.safeParse(request.body);
  if (!parsed.success) {
    sendError(response, { status: 400, message: "'$.input' is invalid.", param: 'input' });
    return;
  }
  const { input, encoding_format: format, dimensions = configuration.dimensions } = parsed.data;
  const texts = typeof input === 'string' ? [input] : input;
  const counts = texts.map(countTokens);
  if (texts.length <= configuration.maxInputs && Math.max(...counts) > configuration.maxInputTokens) {
    sendTooLong(response, configuration, configuration.maxInputTokens);
    return;
  }
  const refusal = refuse(texts, configuration, counts);
  if (refusal !== null) {
    sendError(response, { status: 400, message: refusal });
    return;
  }
  const { failingText } = configuration;
  if (failingText !== null && texts.some((text) => text.includes(failingText))) {
    stats.failed += 1;
    sendError(response, { status: 500, message: 'failed to encode response: json: unsupported value: NaN' });
    return;
  }
  const tokens = counts.reduce((sum, count) => sum + count, 0);
  stats.embeddedTexts += texts.length;
  stats.embeddedTokens += tokens;
  stats.largestBatch = Math.max(stats.largestBatch, texts.length);
  if (configuration.embeddings === 'not_json') {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"data": [{"embedding": [NaN');
  } else if (configuration.embeddings === 'wrong_shape') {
    sendJson(response, 200, { vectors: [] });
  } else if (configuration.embeddings === 'stalled') {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"data": [');
  } else {
    const encode =
      format === 'base64' && configuration.hasBase64 ? toBase64 : (vector: Float32Array) => [...vector];
    const data = texts.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: encode(faultyVector(text, dimensions, configuration)),
    }));
    const usage = configuration.sendsUsage ? { usage: { prompt_tokens: tokens, total_tokens: tokens } } : {};
    sendJson(response, 200, { object: 'list', data: misplace(data, configuration.embeddings), ...usage });
  }
}

function refuse(
  texts: readonly string[],
  { maxInputs, maxRequestTokens, refusedText }: FakeOpenAIConfiguration,
  counts: readonly number[],
): string | null {
  if (texts.length > maxInputs) return `Invalid 'input': maximum array length is ${String(maxInputs)}.`;
  if (texts.includes('')) return "'$.input' is invalid: empty string.";
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total > maxRequestTokens) return `max ${String(maxRequestTokens)} tokens per request`;
  const quoted = refusedText === null ? undefined : texts.find((text) => text.includes(refusedText));
  return quoted === undefined ? null : `Invalid input: ${quoted}`;
}

/** The vector that the fake gives a text when nothing is wrong, of unit length. */
export function fakeVector(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    let hash = 2_166_136_261;
    for (const character of word) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619) >>> 0;
    const index = hash % dimensions;
    vector[index] = (vector[index] ?? 0) + ((hash >>> 16) % 2 === 0 ? 1 : -1);
  }
  if (vector.every((value) => value === 0)) vector[0] = 1;
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}

function faultyVector(
  text: string,
  dimensions: number,
  { embeddings, brokenText }: FakeOpenAIConfiguration,
): Float32Array {
  if (embeddings === 'wrong_dimension') return fakeVector(text, dimensions - 1);
  const vector = fakeVector(text, dimensions);
  if (!text.includes(brokenText)) return vector;
  if (embeddings === 'zero') return vector.fill(0);
  if (embeddings === 'not_a_number') return vector.fill(Number.NaN, 0, 1);
  if (embeddings === 'infinite') return vector.fill(Number.POSITIVE_INFINITY, 0, 1);
  return vector;
}

interface Item {
  readonly index: number;
}

function misplace(data: readonly Item[], fault: FakeOpenAIConfiguration['embeddings']): unknown[] {
  if (fault === 'shuffled') return [...data].reverse();
  if (fault === 'missing') return data.slice(1);
  if (fault === 'extra') return [...data, ...data.slice(0, 1)];
  if (fault === 'repeated_index') return data.map((item) => ({ ...item, index: 0 }));
  if (fault === 'no_index') return data.map((item) => ({ ...item, index: null }));
  return [...data];
}

function toBase64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}
