import type { IncomingMessage } from 'node:http';
import { AppError } from '../shared/errors.js';
import type { BodyClaim } from './body-budget.js';
import { watchProgress } from './body-progress.js';

/** The client went away while we read: nobody is there to be answered. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
}

const MAX_DEPTH = 200;
/** Far more than any request has; half a million take seconds to make objects of, and as long to look at. */
const MAX_KEYS = 10_000;

export function hasBody(request: IncomingMessage): boolean {
  const { 'transfer-encoding': encoding, 'content-length': length } = request.headers;
  return encoding !== undefined || Number(length ?? 0) > 0;
}

/** The media type alone, in lower case; empty when the request states none. */
export function mediaTypeOf(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

export function isJson(mediaType: string): boolean {
  return mediaType === 'application/json' || /^application\/[\w.-]+\+json$/.test(mediaType);
}

function tooLargeBody(maxBytes: number): AppError {
  return new AppError(
    413,
    `The JSON body is larger than ${String(maxBytes)} bytes: send large documents to /ingest/file`,
  );
}

export interface BodyOptions {
  readonly maxBytes: number;
  /** Called when nothing is left to refuse before the bytes come. */
  readonly onReading: () => void;
  /** Grows with what arrives; whoever made it releases it. */
  readonly claim: BodyClaim;
  readonly graceSeconds: number;
}

/**
 * Bytes of the body. It stops at the first byte over a limit and leaves the rest unread.
 * @throws AppError 408, 413, 503; ClientGoneError
 */
export function readBytes(request: IncomingMessage, options: BodyOptions): Promise<Buffer> {
  const { maxBytes, onReading, claim, graceSeconds } = options;
  if (Number(request.headers['content-length'] ?? 0) > maxBytes)
    return Promise.reject(tooLargeBody(maxBytes));
  onReading();
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    const stop = () => {
      endWatch();
      request.off('data', take).off('end', finish).off('error', goneWith).off('close', gone);
    };
    const refuse = (error: unknown) => {
      stop();
      request.pause();
      // What it holds goes at once: the answer waits until a slow client has taken it.
      parts.length = 0;
      reject(toError(error));
    };
    const take = (part: Buffer) => {
      size += part.length;
      if (size > maxBytes) {
        refuse(tooLargeBody(maxBytes));
        return;
      }
      try {
        claim.grow(size);
        parts.push(part);
      } catch (error) {
        refuse(error);
      }
    };
    const finish = () => {
      stop();
      resolve(Buffer.concat(parts, size));
    };
    const goneWith = (cause: unknown) => {
      stop();
      reject(new ClientGoneError('the request broke off', { cause }));
    };
    const gone = () => {
      goneWith(undefined);
    };
    const endWatch = watchProgress(request, graceSeconds, refuse);
    request.on('data', take).on('end', finish).on('error', goneWith).on('close', gone);
  });
}

const toError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error('the body was refused', { cause: thrown });

/** @throws AppError 415 when the body is encoded in a way that is not read here */
export function checkEncoding(request: IncomingMessage): void {
  const { 'content-encoding': encoding = 'identity', 'content-type': type = '' } = request.headers;
  if (encoding.toLowerCase() !== 'identity')
    throw new AppError(415, 'Compressed request bodies are not supported');
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type)?.[1]?.toLowerCase() ?? 'utf-8';
  if (!['utf-8', 'utf8', 'us-ascii'].includes(charset))
    throw new AppError(415, 'The body must be encoded in UTF-8');
}

/** @throws AppError 422 in the shape of pydantic 1 */
export function parseJson(bytes: Buffer): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (isExcessive(bytes)) throw new SyntaxError('too deep, or too many keys');
    return JSON.parse(text);
  } catch (cause) {
    const item = { loc: ['body'], msg: 'Invalid JSON', type: 'value_error.jsondecode' };
    throw new AppError(422, [item], { cause });
  }
}

/**
 * What recurses over a value later must not run out of stack, and no value may hold up the process, so depth and keys
 * are counted before it is parsed.
 */
function isExcessive(bytes: Buffer): boolean {
  let depth = 0;
  let keys = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth -= 1;
    else if (byte === COLON) keys += 1;
    if (depth > MAX_DEPTH || keys > MAX_KEYS) return true;
  }
  return false;
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];

function endOfString(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(QUOTE, start + 1); end !== -1; end = bytes.indexOf(QUOTE, end + 1)) {
    let slashes = 0;
    while (bytes[end - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return bytes.length;
}
