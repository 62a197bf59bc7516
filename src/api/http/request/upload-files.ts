import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Busboy } from 'busboy';
import { fileTooLarge, type IncomingFile } from '../../services/ingest/incoming.js';
import { HttpError, tooManyItems } from '../http-error.js';
import type { ReadJson } from '../json/json.js';
import { watchProgress, announcedBytes } from './body.js';
import { createMultipartParser, malformed } from './multipart-parser.js';
import { collectField, takeFields, type UploadState } from './multipart-parts.js';
import {
  MAX_FIELD_BYTES,
  MAX_FIELDS,
  noteUnknown,
  OVERHEAD_BYTES,
  watchRequest,
  type UploadReading,
} from './upload.js';

export interface FilesTarget<Stored> {
  /** The name of the parts that are files, and how many there may be. */
  readonly name: string;
  readonly maxFiles: number;
  /** A file may be refused by `store` for its size. A body with more bytes than all of them may have is refused as a whole. */
  readonly maxFileBytes: number;
  /** The form fields that are read, with the most bytes of each; other fields are skipped. */
  readonly fields: Readonly<Record<string, number>>;
  /** The fields that may be a word that is no JSON. A list is JSON all the same. */
  readonly words: readonly string[];
  /** Called with the text of each field. */
  readonly onField?: (name: string, text: string) => void;
  /**
   * Stores a file, which need not be read to its end: the rest is skipped. It rejects only where the form cannot go on.
   * Reading throws when the upload breaks off.
   */
  readonly store: (file: IncomingFile) => Promise<Stored>;
}

export interface ReceivedFiles<Stored> {
  readonly files: readonly Stored[];
  /** The form fields, parsed. */
  readonly fields: ReadonlyMap<string, unknown>;
}

/**
 * Reads a multipart body with many files once, with its parts in any order. Rejects only after each `store` has settled, so
 * that the caller can remove the stored files.
 * @throws HttpError 400 malformed, broken off or a field that is not JSON; 422 no files, or too many; TooLargeError
 */
export type ReceiveFiles = <Stored>(target: FilesTarget<Stored>) => Promise<ReceivedFiles<Stored>>;

export type FilesReading = UploadReading & { readonly readJson: ReadJson };

/** A refused form stays unread. Bytes count as held until they are passed on to storage. */
export function createFilesReceiver(request: IncomingMessage, reading: FilesReading): ReceiveFiles {
  return async (target) => {
    const maxBytes = target.maxFileBytes * target.maxFiles;
    if (announcedBytes(request) > maxBytes + OVERHEAD_BYTES) throw fileTooLarge(maxBytes);
    reading.onReading();
    const form = await receive(request, target, reading);
    if (form.files.length === 0) throw missingFiles(target.name);
    const fields = new Map<string, unknown>();
    for (const [name, text] of form.fields) {
      const isWord = target.words.includes(name) && !text.trimStart().startsWith('[');
      fields.set(name, isWord ? text : await parseField(name, text, reading.readJson));
    }
    return { files: form.files, fields };
  };
}

async function parseField(name: string, text: string, readJson: ReadJson): Promise<unknown> {
  try {
    return await readJson(Buffer.from(text), { exactFrom: 1 });
  } catch (error) {
    if (error instanceof HttpError) throw new HttpError(400, `Invalid ${name} JSON`);
    throw error;
  }
}

async function receive<Stored>(
  request: IncomingMessage,
  target: FilesTarget<Stored>,
  { claim, graceSeconds, ignored }: UploadReading,
): Promise<{ files: Stored[]; fields: Map<string, string> }> {
  const parser = createParser(request, target.maxFiles);
  const stored: Promise<Stored>[] = [];
  const fields = new Map<string, string>();
  const onField = (name: string, value: string | null) => {
    if (value === null) throw tooLong(name);
    target.onField?.(name, value);
    fields.set(name, value);
  };
  const known = [target.name, ...Object.keys(target.fields)];
  const reading = createState(request, parser, (stop) => noteUnknown(ignored, known, stop));
  const closed = new Promise<void>((resolve) => {
    parser.once('close', resolve);
  });
  parser.on('error', (error) => {
    reading.stop(malformed(error));
  });
  parser.on('filesLimit', () => {
    reading.stop(tooManyItems(target.name, target.maxFiles));
  });
  takeFields(parser, { fields: target.fields, onField }, reading);
  takeFiles(parser, { target, onField, stored }, reading);
  const maxFileBytes = target.maxFileBytes * target.maxFiles;
  const tooLarge = () => fileTooLarge(maxFileBytes);
  const stopWatching = watchRequest(request, { maxFileBytes, tooLarge }, { reading, claim });
  const stopTiming = watchProgress(request, { graceSeconds }, reading.stop);
  if (!reading.failure) request.pipe(parser);
  await closed;
  const outcomes = await Promise.allSettled([...stored, ...reading.fields]);
  stopWatching();
  stopTiming();
  if (reading.failure) throw reading.failure.error;
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return { files: await Promise.all(stored), fields };
}

function createState(
  request: IncomingMessage,
  parser: Busboy,
  onUnknown: (stop: UploadState['stop']) => UploadState['onUnknown'],
): UploadState {
  const state: UploadState = {
    fields: [],
    failure: null,
    passedBytes: 0,
    stop: (error) => {
      state.failure ??= { error };
      request.unpipe(parser);
      parser.destroy();
    },
    onUnknown: onUnknown((error) => {
      state.stop(error);
    }),
  };
  return state;
}

function createParser(request: IncomingMessage, maxFiles: number): Busboy {
  // Fields may be sent like files, too. The number of files itself is counted where they are taken.
  const files = maxFiles + MAX_FIELDS;
  const limits = { fields: MAX_FIELDS, files, parts: files + MAX_FIELDS, fieldSize: MAX_FIELD_BYTES };
  return createMultipartParser(request.headers, limits);
}

interface TakenFiles<Stored> {
  readonly target: FilesTarget<Stored>;
  readonly onField: (name: string, value: string | null) => void;
  readonly stored: Promise<Stored>[];
}

/** Passes the files of the form on to the target one after the other, and fields that are sent like files. */
function takeFiles<Stored>(
  parser: Busboy,
  { target, onField, stored }: TakenFiles<Stored>,
  reading: UploadState,
): void {
  parser.on('file', (name: string | undefined, bytes, { filename = '', mimeType, encoding }) => {
    // Without a listener the error of a part that breaks off would end the process. Its reader gets the error as well.
    bytes.on('error', () => undefined);
    const countPassed = () =>
      bytes.on('data', (part: Buffer) => {
        reading.passedBytes += part.length;
      });
    // The parser finishes the current chunk even after it was stopped.
    if (reading.failure) countPassed();
    else if (name === target.name && stored.length === target.maxFiles) {
      countPassed();
      reading.stop(tooManyItems(target.name, target.maxFiles));
    } else if (name === target.name) {
      countPassed();
      bytes.pause();
      const file = {
        filename: filename === '' ? null : filename,
        declaredType: mimeType,
        bytes: read(bytes),
      };
      const storing = target.store(file).finally(() => bytes.resume());
      storing.catch(reading.stop);
      stored.push(storing);
    } else if (name !== undefined && Object.hasOwn(target.fields, name)) {
      const limits = { maxBytes: target.fields[name] ?? 0, encoding };
      const taken = collectField(bytes, limits, reading).then((value) => {
        if (!reading.failure) onField(name, value);
      });
      taken.catch(reading.stop);
      reading.fields.push(taken);
    } else {
      countPassed();
      if (name !== undefined) reading.onUnknown(name);
    }
  });
}

/** The bytes of a part. Who stops reading leaves the rest to be skipped, which the form needs to go on. */
async function* read(bytes: Readable): AsyncGenerator<Uint8Array> {
  const parts: AsyncIterable<unknown> = bytes.iterator({ destroyOnReturn: false });
  try {
    for await (const part of parts)
      if (Buffer.isBuffer(part)) yield part;
      else throw new TypeError('the parts of a form are read as bytes');
  } catch (error) {
    throw malformed(error);
  }
}

const missingFiles = (name: string) =>
  new HttpError(422, [{ loc: ['body', name], msg: 'field required', type: 'value_error.missing' }]);

const tooLong = (name: string) =>
  new HttpError(422, [{ loc: ['body', name], msg: 'this field is too long', type: 'value_error' }]);
