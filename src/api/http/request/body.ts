import type { IncomingMessage, ServerResponse } from 'node:http';
import { at } from '../../../shared/at.js';
import { toError } from '../../../shared/errors.js';
import { HttpError } from '../http-error.js';
import type { ReadJson } from '../json/json.js';
import type { IgnoredFields } from '../unknown-fields.js';
import type { BodyClaim } from './body-budget.js';
import { headerOf } from './headers.js';

/** The client went away while its request was read, so no response can be sent. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
}

export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || announcedBytes(request) > 0;
}

/** Returns the bytes that the `Content-Length` header announces; 0 without one. */
export function announcedBytes({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0);
}

/** Returns the media type alone, in lower case; empty when the request states none. */
export function mediaTypeOf(request: IncomingMessage): string {
  return at(headerOf(request, 'content-type').split(';'), 0).trim().toLowerCase();
}

export function isJson(mediaType: string): boolean {
  return mediaType === 'application/json' || /^application\/[\w.-]+\+json$/.test(mediaType);
}

function tooLargeBody(maxBytes: number): HttpError {
  return new HttpError(
    413,
    `The JSON body is larger than the ${String(maxBytes)} bytes of this route; large documents go to /ingest/file`,
  );
}

export interface BodyOptions {
  readonly maxBytes: number;
  /** Called when nothing is left that could refuse the request before its bytes are read. */
  readonly onReading: () => void;
  /** Grows with the arriving bytes; its creator releases it. */
  readonly claim: BodyClaim;
  readonly graceSeconds: number;
}

export interface BodyReading extends BodyOptions {
  readonly ignored: IgnoredFields;
  readonly readJson: ReadJson;
  /** Called with the bytes of a JSON body before they are parsed. */
  readonly onBytes?: (bytes: Uint8Array) => void;
}

/**
 * Reads the bytes of the body. Reading stops at the first byte over a limit, and the rest stays unread.
 * @throws HttpError 408, 413, 503; ClientGoneError
 */
export async function readBytes(request: IncomingMessage, options: BodyOptions): Promise<Buffer> {
  if (announcedBytes(request) > options.maxBytes) throw tooLargeBody(options.maxBytes);
  options.onReading();
  return collectBytes(request, options);
}

function collectBytes(request: IncomingMessage, options: BodyOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const collected = createCollector(options);
    const stop = () => {
      stopWatching();
      stopReading();
      request.off('data', take).off('end', finish).off('error', breakOff).off('close', close);
    };
    const refuse = (error: unknown) => {
      stop();
      request.pause();
      // The memory is freed now, because sending the response to a slow client may take long.
      collected.clear();
      reject(toError(error));
    };
    const take = (part: Buffer) => {
      try {
        collected.add(part);
      } catch (error) {
        refuse(error);
      }
    };
    const finish = () => {
      stop();
      resolve(collected.bytes());
    };
    const breakOff = (cause: unknown) => {
      stop();
      reject(new ClientGoneError('the request broke off', { cause }));
    };
    const close = () => {
      breakOff(undefined);
    };
    const stopWatching = watchProgress(request, options, refuse);
    const stopReading = options.claim.whileReading(() => {
      refuse(new HttpError(408, 'The request body comes too slowly while others need the memory'));
    });
    request.on('data', take).on('end', finish).on('error', breakOff).on('close', close);
  });
}

/** Gathers the parts of a body; `add` throws when they exceed a limit. */
function createCollector({ maxBytes, claim }: Pick<BodyOptions, 'maxBytes' | 'claim'>) {
  const gathered = new GatheredBytes();
  return {
    add: (part: Buffer): void => {
      const size = gathered.size + part.length;
      if (size > maxBytes) throw tooLargeBody(maxBytes);
      claim.grow(size);
      gathered.add(part);
    },
    clear: (): void => {
      gathered.clear();
    },
    bytes: () => gathered.bytes,
  };
}

/** @throws HttpError 415 for a compressed body, or one in another encoding than UTF-8 */
export function checkEncoding(request: IncomingMessage): void {
  const { 'content-encoding': encoding = 'identity', 'content-type': type = '' } = request.headers;
  if (encoding.toLowerCase() !== 'identity')
    throw new HttpError(415, 'Compressed request bodies are not supported');
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type)?.[1]?.toLowerCase() ?? 'utf-8';
  if (!['utf-8', 'utf8', 'us-ascii'].includes(charset))
    throw new HttpError(415, 'The body must be encoded in UTF-8');
}

const FIRST_BYTES = 4096;

/**
 * Gathers bytes that arrive in pieces in one buffer, which doubles when it is full. A client may send a body in pieces of
 * one byte, and a list of the pieces would take about two hundred bytes for each.
 */
export class GatheredBytes {
  #held = Buffer.alloc(0);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(piece: Uint8Array): void {
    const size = this.#size + piece.length;
    if (size > this.#held.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, 2 * this.#size, size));
      this.#held.copy(larger, 0, 0, this.#size);
      this.#held = larger;
    }
    this.#held.set(piece, this.#size);
    this.#size = size;
  }

  /** The bytes that were added so far. The buffer may change when more are added. */
  get bytes(): Buffer {
    return this.#held.subarray(0, this.#size);
  }

  clear(): void {
    this.#held = Buffer.alloc(0);
    this.#size = 0;
  }
}

/** After its grace period, a body must arrive at this rate on average (the default of Apache's mod_reqtimeout). */
const MIN_BYTES_PER_SECOND = 500;
const TICK_MILLISECONDS = 250;

interface Pace {
  /** The time in which nothing need arrive at the beginning. */
  readonly graceSeconds: number;
  /**
   * For so long at most, nothing need arrive later, however fast the body came before. Without it, whoever has sent a megabyte
   * may pause for half an hour.
   */
  readonly pauseSeconds?: number;
}

/**
 * Calls `onSlow` with a 408 when a body arrives too slowly. Time in which we do not read, because storage is slower, does
 * not count. Returns a function that ends the watch.
 */
export function watchProgress(
  request: IncomingMessage,
  { graceSeconds, pauseSeconds = Infinity }: Pace,
  onSlow: (error: HttpError) => void,
): () => void {
  let secondsLeft = graceSeconds;
  const count = (part: Uint8Array) => {
    const earned = secondsLeft + part.length / MIN_BYTES_PER_SECOND;
    secondsLeft = Math.min(earned, pauseSeconds);
  };
  const timer = setInterval(() => {
    if (request.isPaused()) return;
    secondsLeft -= TICK_MILLISECONDS / 1_000;
    if (secondsLeft >= 0) return;
    stop();
    onSlow(new HttpError(408, 'The request body comes too slowly'));
  }, TICK_MILLISECONDS);
  timer.unref();
  const stop = () => {
    clearInterval(timer);
    request.off('data', count);
  };
  request.on('data', count);
  return stop;
}

const requestTimers = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/**
 * Calls `onLate` when a request has not arrived completely after this time. The request timeout of Node.js does the same,
 * but cannot be lifted for single requests.
 */
export function limitRequestTime(request: IncomingMessage, milliseconds: number, onLate: () => void): void {
  if (!hasBody(request)) return;
  const timer = setTimeout(() => {
    if (!request.complete) onLate();
  }, milliseconds);
  timer.unref();
  requestTimers.set(request, timer);
  const stop = () => {
    clearTimeout(timer);
  };
  request.once('end', stop).once('close', stop);
}

/** Lets a request take as long as it needs, for streams of any length. Too slow ones still end. */
export function liftRequestTime(request: IncomingMessage): void {
  clearTimeout(requestTimers.get(request));
}

const awaitingContinue = new WeakSet<IncomingMessage>();

/** Notes that the client sends its body only after it has received `100 Continue`. */
export function expectContinue(request: IncomingMessage, response: ServerResponse): void {
  awaitingContinue.add(request);
  // If the request is refused instead, the client may or may not send the body, so the connection cannot be used again.
  response.shouldKeepAlive = false;
}

/** Sends `100 Continue` if the client waits for it. */
export function continueBody(request: IncomingMessage, response: ServerResponse): void {
  if (!awaitingContinue.delete(request)) return;
  response.shouldKeepAlive = true;
  response.writeContinue();
}
