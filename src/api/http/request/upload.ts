import type { IncomingMessage } from 'node:http';
import type { IgnoredFields } from '../unknown-fields.js';
import type { BodyClaim } from './body-budget.js';
import { watchProgress, announcedBytes, type BodyReading } from './body.js';
import { createMultipartParser, malformed } from './multipart-parser.js';
import {
  takeFields,
  takeFiles,
  type FileState,
  type UploadState,
  type UploadTarget,
} from './multipart-parts.js';

/**
 * Reads a multipart body once, with its parts in any order. Resolves with null when it holds no `file`. Rejects only after
 * `storeFile` has settled, so that the caller can remove the stored file.
 * @throws HttpError 400 malformed or broken off, 422 more than one file; TooLargeError; errors of the target
 */
export type ReceiveUpload = <Stored>(target: UploadTarget<Stored>) => Promise<Stored | null>;

/** The bytes that form fields and part headers may take in addition to the file. */
export const OVERHEAD_BYTES = 8 * 1024 * 1024;
export const MAX_FIELDS = 64;
export const MAX_FIELD_BYTES = 4 * 1024 * 1024;

export function isMultipart({ headers }: IncomingMessage): boolean {
  const type = headers['content-type'];
  return type !== undefined && /^\s*multipart\/form-data\s*(;|$)/i.test(type);
}

export type UploadReading = Pick<BodyReading, 'onReading' | 'claim' | 'graceSeconds' | 'ignored'>;

/** A refused upload stays unread. Bytes count as held until they are passed on to storage. */
export function createUploadReceiver(request: IncomingMessage, reading: UploadReading): ReceiveUpload {
  return async (target) => {
    if (announcedBytes(request) > target.maxFileBytes + OVERHEAD_BYTES) throw target.tooLarge();
    reading.onReading();
    return receive(request, target, reading);
  };
}

async function receive<Stored>(
  request: IncomingMessage,
  target: UploadTarget<Stored>,
  { claim, graceSeconds, ignored }: UploadReading,
): Promise<Stored | null> {
  const limits = { fields: MAX_FIELDS, files: MAX_FIELDS, parts: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES };
  const parser = createMultipartParser(request.headers, limits);
  const reading: FileState<Stored> = {
    stored: null,
    fields: [],
    failure: null,
    passedBytes: 0,
    stop: (error) => {
      reading.failure ??= { error };
      request.unpipe(parser);
      parser.destroy();
    },
    onUnknown: noteUnknown(ignored, ['file', ...Object.keys(target.fields)], (error) => {
      reading.stop(error);
    }),
  };
  const closed = new Promise<void>((resolve) => {
    parser.once('close', resolve);
  });
  parser.on('error', (error) => {
    reading.stop(malformed(error));
  });
  takeFields(parser, target, reading);
  takeFiles(parser, target, reading);
  const stopWatching = watchRequest(request, target, { reading, claim });
  const stopTiming = watchProgress(request, { graceSeconds }, reading.stop);
  if (!reading.failure) request.pipe(parser);
  await closed;
  const [outcome] = await Promise.allSettled([reading.stored, ...reading.fields]);
  stopWatching();
  stopTiming();
  if (reading.failure) throw reading.failure.error;
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

/** Notes parts of a form that are not read; where they are refused, the form ends. */
export const noteUnknown =
  ({ note }: IgnoredFields, known: readonly string[], stop: UploadState['stop']) =>
  (name: string): void => {
    try {
      note(name, known);
    } catch (error) {
      stop(error);
    }
  };

/** Stops reading when the request breaks off or grows too large. Returns a function that ends the watch. */
export function watchRequest(
  request: IncomingMessage,
  { maxFileBytes, tooLarge }: Pick<UploadTarget<unknown>, 'maxFileBytes' | 'tooLarge'>,
  { reading, claim }: { reading: UploadState; claim: BodyClaim },
): () => void {
  const { stop } = reading;
  let received = 0;
  const count = (bytes: Uint8Array) => {
    received += bytes.length;
    if (received > maxFileBytes + OVERHEAD_BYTES) stop(tooLarge());
    try {
      claim.grow(received - reading.passedBytes);
    } catch (error) {
      stop(error);
    }
  };
  const breakOff = (error?: unknown) => {
    if (!request.complete) stop(malformed(error));
  };
  request.on('data', count).once('close', breakOff).once('error', breakOff);
  if (request.destroyed) breakOff();
  return () => {
    request.off('data', count).off('close', breakOff).off('error', breakOff);
  };
}
