import type { IncomingMessage } from 'node:http';
import { HttpError } from '../http-error.js';
import type { BodyClaim } from './body-budget.js';
import { watchProgress } from './body-progress.js';
import { GatheredBytes } from './gathered-bytes.js';

/** The client went away while we read: nobody is there to be answered. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
}

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

function tooLargeBody(maxBytes: number): HttpError {
  return new HttpError(
    413,
    `The JSON body is larger than the ${String(maxBytes)} bytes of this route; large documents go to /ingest/file`,
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
 * @throws HttpError 408, 413, 503; ClientGoneError
 */
export function readBytes(request: IncomingMessage, options: BodyOptions): Promise<Buffer> {
  const { maxBytes, onReading, claim, graceSeconds } = options;
  if (Number(request.headers['content-length'] ?? 0) > maxBytes)
    return Promise.reject(tooLargeBody(maxBytes));
  onReading();
  return new Promise((resolve, reject) => {
    const gathered = new GatheredBytes();
    const stop = () => {
      endWatch();
      endReading();
      request.off('data', take).off('end', finish).off('error', goneWith).off('close', gone);
    };
    const refuse = (error: unknown) => {
      stop();
      request.pause();
      // What it holds goes at once: the answer waits until a slow client has taken it.
      gathered.clear();
      reject(toError(error));
    };
    const take = (part: Buffer) => {
      const size = gathered.size + part.length;
      if (size > maxBytes) {
        refuse(tooLargeBody(maxBytes));
        return;
      }
      try {
        claim.grow(size);
        gathered.add(part);
      } catch (error) {
        refuse(error);
      }
    };
    const finish = () => {
      stop();
      resolve(gathered.bytes);
    };
    const goneWith = (cause: unknown) => {
      stop();
      reject(new ClientGoneError('the request broke off', { cause }));
    };
    const gone = () => {
      goneWith(undefined);
    };
    const endWatch = watchProgress(request, graceSeconds, refuse);
    const endReading = claim.whileReading(() => {
      refuse(new HttpError(408, 'The request body comes too slowly while others need the memory'));
    });
    request.on('data', take).on('end', finish).on('error', goneWith).on('close', gone);
  });
}

const toError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error('the body was refused', { cause: thrown });

/** @throws HttpError 415 when the body is encoded in a way that is not read here */
export function checkEncoding(request: IncomingMessage): void {
  const { 'content-encoding': encoding = 'identity', 'content-type': type = '' } = request.headers;
  if (encoding.toLowerCase() !== 'identity')
    throw new HttpError(415, 'Compressed request bodies are not supported');
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type)?.[1]?.toLowerCase() ?? 'utf-8';
  if (!['utf-8', 'utf8', 'us-ascii'].includes(charset))
    throw new HttpError(415, 'The body must be encoded in UTF-8');
}
