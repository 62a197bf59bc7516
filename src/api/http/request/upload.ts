import type { IncomingMessage } from 'node:http';
import busboy, { type Busboy } from 'busboy';
import { fileTooLarge, type IncomingFile } from '../../services/ingest/incoming-file.js';
import { HttpError } from '../http-error.js';
import type { BodyClaim } from './body-budget.js';
import { watchProgress } from './body-progress.js';
import type { BodyOptions } from './body.js';
import { GatheredBytes } from './gathered-bytes.js';

export interface UploadTarget<Stored> {
  /** More bytes than this in the whole request are 413. */
  readonly maxFileBytes: number;
  /** Most bytes of each form field that is wanted; others are skipped. */
  readonly fields: Readonly<Record<string, number>>;
  /** Takes the part named `file`, and reads all of its bytes; an upload that breaks off makes that throw. */
  readonly storeFile: (file: IncomingFile) => Promise<Stored>;
  /** May throw to refuse the upload at once. `value` is null when the field is over its limit. */
  readonly onField?: (name: string, value: string | null) => void;
}

/**
 * Reads a multipart body once, parts in any order; null when it holds no `file`. Rejects only after `storeFile` has
 * settled, so that the caller can clear away what it stored.
 * @throws HttpError 400 malformed or broken off, 422 more than one file; TooLargeError; what the target throws
 */
export type ReceiveUpload = <Stored>(target: UploadTarget<Stored>) => Promise<Stored | null>;

/** Room for form fields and part headers beside the file. */
const OVERHEAD_BYTES = 8 * 1024 * 1024;
const MAX_FIELDS = 64;
const MAX_FIELD_BYTES = 4 * 1024 * 1024;

export const isMultipart = (request: IncomingMessage): boolean =>
  /^\s*multipart\/form-data\s*(;|$)/i.test(request.headers['content-type'] ?? '');

const malformed = (cause?: unknown): HttpError => new HttpError(400, 'Malformed multipart body', { cause });

export type UploadReading = Pick<BodyOptions, 'onReading' | 'claim' | 'graceSeconds'>;

/** What is refused is left unread; what is not passed on as the file counts as held. */
export function createUploadReceiver(request: IncomingMessage, reading: UploadReading): ReceiveUpload {
  const announced = Number(request.headers['content-length'] ?? 0);
  return async (target) => {
    if (announced > target.maxFileBytes + OVERHEAD_BYTES) throw fileTooLarge(target.maxFileBytes);
    reading.onReading();
    return receive(request, target, reading);
  };
}

async function receive<Stored>(
  request: IncomingMessage,
  target: UploadTarget<Stored>,
  { claim, graceSeconds }: UploadReading,
): Promise<Stored | null> {
  const parser = createParser(request);
  const reading: Reading<Stored> = {
    stored: null,
    fields: [],
    failure: null,
    passedBytes: 0,
    stop: (error) => {
      reading.failure ??= { error };
      request.unpipe(parser);
      parser.destroy();
    },
  };
  const closed = new Promise<void>((resolve) => {
    parser.once('close', resolve);
  });
  parser.on('error', (error) => {
    reading.stop(malformed(error));
  });
  takeFields(parser, target, reading);
  takeFiles(parser, target, reading);
  const letGo = watchRequest(request, target, { reading, claim });
  const endWatch = watchProgress(request, graceSeconds, reading.stop);
  if (!reading.failure) request.pipe(parser);
  await closed;
  const [outcome] = await Promise.allSettled([reading.stored, ...reading.fields]);
  letGo();
  endWatch();
  if (reading.failure) throw reading.failure.error;
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

interface Reading<Stored> {
  stored: Promise<Stored> | null;
  /** Fields that came like files and are still read. */
  readonly fields: Promise<void>[];
  failure: { readonly error: unknown } | null;
  readonly stop: (error: unknown) => void;
  /** Bytes of files that are no longer here: stored, or not wanted. */
  passedBytes: number;
}

function createParser(request: IncomingMessage): Busboy {
  const limits = { fields: MAX_FIELDS, files: MAX_FIELDS, parts: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES };
  try {
    return busboy({ headers: request.headers, defParamCharset: 'utf8', limits });
  } catch (error) {
    throw malformed(error);
  }
}

/** Stops the reading when the request breaks off or grows too large. */
function watchRequest(
  request: IncomingMessage,
  { maxFileBytes }: UploadTarget<unknown>,
  { reading, claim }: { reading: Reading<unknown>; claim: BodyClaim },
): () => void {
  const { stop } = reading;
  let received = 0;
  const count = (bytes: Uint8Array) => {
    received += bytes.length;
    if (received > maxFileBytes + OVERHEAD_BYTES) stop(fileTooLarge(maxFileBytes));
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

function takeFields<Stored>(parser: Busboy, target: UploadTarget<Stored>, reading: Reading<Stored>): void {
  // @NOTE busboy leaves a name undefined that the part does not give, and a value in an unknown charset.
  parser.on('field', (name: string | undefined, value: string | undefined, info) => {
    const most = fieldLimit(target, name);
    if (name === undefined || most === null) return;
    const fits = !info.valueTruncated && Buffer.byteLength(value ?? '') <= most;
    takeField(name, fits ? (value ?? '') : null, target, reading);
  });
  for (const limit of ['fieldsLimit', 'filesLimit', 'partsLimit'] as const) {
    parser.on(limit, () => {
      reading.stop(new HttpError(400, 'Too many form fields'));
    });
  }
}

function takeField<Stored>(
  name: string,
  value: string | null,
  target: UploadTarget<Stored>,
  reading: Reading<Stored>,
): void {
  if (reading.failure) return;
  try {
    target.onField?.(name, value);
  } catch (error) {
    reading.stop(error);
  }
}

function takeFiles<Stored>(parser: Busboy, target: UploadTarget<Stored>, reading: Reading<Stored>): void {
  parser.on('file', (name: string | undefined, bytes, { filename = '', mimeType }) => {
    // Without a listener the error of a part that breaks off would end the process; who reads it gets it too.
    bytes.on('error', () => undefined);
    const most = fieldLimit(target, name);
    const drop = () => {
      bytes.on('data', (part: Buffer) => {
        reading.passedBytes += part.length;
      });
    };
    // The parser finishes the chunk at hand even when it was stopped.
    if (reading.failure) drop();
    else if (name === 'file' && reading.stored) reading.stop(secondFile());
    else if (name === 'file') {
      const file = {
        filename: filename === '' ? null : filename,
        declaredType: mimeType,
        bytes: passing(bytes, reading),
      };
      reading.stored = target.storeFile(file);
      reading.stored.catch(reading.stop);
    } else if (name !== undefined && most !== null) {
      const taken = collect(bytes, most).then((value) => {
        takeField(name, value, target, reading);
      });
      taken.catch(reading.stop);
      reading.fields.push(taken);
    } else drop();
  });
}

async function* passing(
  bytes: AsyncIterable<Uint8Array>,
  reading: Reading<unknown>,
): AsyncGenerator<Uint8Array> {
  for await (const part of bytes) {
    reading.passedBytes += part.length;
    yield part;
  }
}

/** Null for a field that is not wanted. */
const fieldLimit = (target: UploadTarget<unknown>, name: string | undefined): number | null =>
  name !== undefined && Object.hasOwn(target.fields, name) ? (target.fields[name] ?? null) : null;

/** A form field that was sent as if it were a file, as browsers do with a Blob. */
async function collect(bytes: AsyncIterable<Uint8Array>, most: number): Promise<string | null> {
  const gathered = new GatheredBytes();
  let size = 0;
  for await (const part of bytes) {
    size += part.length;
    if (size <= most) gathered.add(part);
  }
  return size <= most ? gathered.bytes.toString('utf8') : null;
}

const secondFile = () =>
  new HttpError(422, [{ loc: ['body', 'file'], msg: 'only one file is expected', type: 'value_error' }]);
