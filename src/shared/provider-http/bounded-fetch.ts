import { types } from 'node:util';
import { BadReplyError } from './bad-reply-error.js';

export interface BoundedFetchOptions {
  readonly bytes: number;
  /** The limit for one line. A client that reads lines must not rely on the type that the reply says it has. */
  readonly lineBytes: number;
  /** The function that sends requests; `fetch` by default. */
  readonly send?: typeof fetch | undefined;
}

const NEWLINE = 0x0a;

/**
 * Fetches like `fetch`, but ends replies that have no end, and follows no redirect: the provider's address is a setting,
 * and its replies must not choose another host inside our network.
 */
export function createBoundedFetch({ send = fetch, ...max }: BoundedFetchOptions): typeof fetch {
  return async (input, init) => {
    const response = await send(input, { ...init, redirect: 'manual' });
    const { body, status, statusText, headers } = response;
    if (!body) return response;
    return new Response(body.pipeThrough(limit(max)), { status, statusText, headers });
  };
}

/** Passes bytes on, and fails with a BadReplyError when there are too many in all, or more than `lineBytes` in one line. */
function limit(max: Pick<BoundedFetchOptions, 'bytes' | 'lineBytes'>) {
  let bytes = 0;
  let lineBytes = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform: (piece, controller) => {
      bytes += piece.length;
      const first = piece.indexOf(NEWLINE);
      const longest = lineBytes + (first < 0 ? piece.length : first);
      lineBytes = first < 0 ? longest : piece.length - piece.lastIndexOf(NEWLINE) - 1;
      if (bytes > max.bytes || longest > max.lineBytes) throw new BadReplyError('is too long');
      controller.enqueue(piece);
    },
  });
}

/** A whole answer that is longer is an error. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Gives answers of a server that does not stream, although a stream was asked for, the form of a stream of one event. Some
 * gateways answer so, and the client of OpenAI would read no event in them.
 */
export function withWholeAnswers(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    const { body, status, statusText } = response;
    if (!body || status >= 400 || !isJson(response)) return response;
    const answer = await readWhole(body);
    const headers = { 'content-type': 'text/event-stream' };
    return new Response(`data: ${answer}\n\ndata: [DONE]\n\n`, { status, statusText, headers });
  };
}

function isJson({ headers }: Response): boolean {
  const type = headers.get('content-type');
  return type !== null && /^application\/json\b/i.test(type);
}

/** The answer in one line. White space between its parts may have line ends, which a text in it never has. */
async function readWhole(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let answer = '';
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MAX_ANSWER_BYTES) throw new BadReplyError('is too long');
    answer += decoder.decode(piece, { stream: true });
  }
  return (answer + decoder.decode()).replace(/[\r\n]+/g, ' ');
}

/** Reads `retry-after-ms`, or `Retry-After` in seconds or as a date (RFC 9110, 10.2.3). In milliseconds. */
export function parseRetryAfter(headers: Headers, now: number): number | null {
  const milliseconds = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  if (Number.isFinite(milliseconds)) return Math.max(0, milliseconds);
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/**
 * Returns the loggable cause of a failed connection: its code or its name, since messages may quote a header, and with it a
 * key.
 */
export function networkCause(error: unknown): Error | undefined {
  const inner = isError(error) && isError(error.cause) ? error.cause : error;
  if (!isError(inner)) return undefined;
  return 'code' in inner && typeof inner.code === 'string' ? new Error(inner.code) : new Error(inner.name);
}

/** Recognises also errors of another realm, such as errors of `fetch` within a VM context. */
const isError = (value: unknown): value is Error => value instanceof Error || types.isNativeError(value);
