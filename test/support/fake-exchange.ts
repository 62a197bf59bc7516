import type { ServerResponse } from 'node:http';
import { z } from 'zod';

const EMBEDDING_FAULTS = [
  'right',
  'shuffled',
  'missing',
  'extra',
  'repeated_index',
  'no_index',
  'wrong_dimension',
  'not_a_number',
  'infinite',
  'zero',
  'not_json',
  'wrong_shape',
  'stalled',
] as const;

/** The failure that one request meets instead of an answer. */
const failureSchema = z.object({
  status: z.number().default(500),
  headers: z.record(z.string(), z.string()).default({}),
  message: z.string().default('The server had an error while processing your request.'),
  code: z.string().nullable().default(null),
  param: z.string().nullable().default(null),
  /** The whole body, for servers that do not answer in the form of OpenAI. */
  body: z.unknown().optional(),
  /** `disconnect` closes the connection, `silence` never answers. */
  kind: z.enum(['answer', 'disconnect', 'silence']).default('answer'),
});

export const configurationSchema = z.object({
  /** null: no key is asked for. */
  apiKey: z.string().nullable().default(null),
  /** The key that requests bring as Azure wants it; null: it plays OpenAI. */
  azureKey: z.string().nullable().default(null),
  latencyMilliseconds: z.number().default(0),
  /** Requests over this many at once get 429; 0: no limit. */
  maxInFlight: z.number().default(0),
  retryAfterSeconds: z.number().default(1),
  /** The failures of the next requests, one each, in order. */
  failures: z.array(failureSchema).default([]),
  refusedParameters: z.array(z.string()).default([]),
  dimensions: z.number().default(256),
  maxInputs: z.number().default(2048),
  maxInputTokens: z.number().default(8192),
  maxRequestTokens: z.number().default(300_000),
  /** Texts that hold it are answered 400. */
  refusedText: z.string().nullable().default(null),
  /** Requests with texts that hold it are answered 500, each time. */
  failingText: z.string().nullable().default(null),
  embeddings: z.enum(EMBEDDING_FAULTS).default('right'),
  /** Limits `not_a_number`, `infinite` and `zero` to texts that hold it. */
  brokenText: z.string().default(''),
  hasBase64: z.boolean().default(true),
  /** Tokens of prompt and completion that the chat model reads; more are refused with `tooLong`. */
  chatWindow: z.number().default(1_000_000),
  /** The refusal of prompts and texts that are too long; `{window}` stands for the tokens. */
  tooLong: z
    .object({ status: z.number(), message: z.string(), code: z.string().nullable() })
    .default({ status: 400, message: 'maximum context length is {window} tokens', code: null }),
  /** null: the first words of the last user message. */
  answer: z.string().nullable().default(null),
  finishReason: z.string().default('stop'),
  stream: z
    .enum(['whole', 'refused', 'dropped', 'unfinished', 'failed', 'not_json', 'stalled'])
    .default('whole'),
  /** Words before the stream goes wrong. */
  wordsBefore: z.number().default(2),
  wordDelayMilliseconds: z.number().default(0),
  sendsUsage: z.boolean().default(true),
  cachedTokens: z.number().nullable().default(null),
});
export type FakeOpenAIConfiguration = z.infer<typeof configurationSchema>;
export type FakeOpenAIOptions = z.input<typeof configurationSchema>;

export interface FakeOpenAIStats {
  requests: number;
  inFlight: number;
  mostInFlight: number;
  embeddingRequests: number;
  embeddedTexts: number;
  embeddedTokens: number;
  largestBatch: number;
  chatRequests: number;
  rateLimited: number;
  failed: number;
  /** Requests whose client went away before the answer was whole. */
  aborted: number;
}

export interface FakeRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly azureKey: string | undefined;
  readonly traceparent: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The objects that the parts of the fake share. */
export interface Exchange {
  readonly request: FakeRequest;
  readonly response: ServerResponse;
  readonly configuration: FakeOpenAIConfiguration;
  readonly stats: FakeOpenAIStats;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

export function noStats(): FakeOpenAIStats {
  return {
    requests: 0,
    inFlight: 0,
    mostInFlight: 0,
    embeddingRequests: 0,
    embeddedTexts: 0,
    embeddedTokens: 0,
    largestBatch: 0,
    chatRequests: 0,
    rateLimited: 0,
    failed: 0,
    aborted: 0,
  };
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_fake', ...headers });
  response.end(JSON.stringify(body));
}

interface FakeError {
  readonly status: number;
  readonly message: string;
  readonly code?: string | null;
  readonly param?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export function sendError(response: ServerResponse, error: FakeError): void {
  const { status, message, code = null, param = null, headers, body } = error;
  const type = status >= 500 ? 'server_error' : 'invalid_request_error';
  sendJson(response, status, body ?? { error: { message, type, param, code } }, headers);
}

export function sendTooLong(
  response: ServerResponse,
  { tooLong }: FakeOpenAIConfiguration,
  window: number,
): void {
  sendError(response, { ...tooLong, message: tooLong.message.replace('{window}', String(window)) });
}
