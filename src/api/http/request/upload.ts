import type { IncomingMessage } from 'node:http';
import type { Busboy } from 'busboy';
import { fileTooLarge, type IncomingFile } from '../../services/ingest/incoming.js';
import { HttpError, tooManyItems } from '../http-error.js';
import type { ReadJson } from '../json/json.js';
import type { IgnoredFields } from '../unknown-fields.js';
import type { BodyClaim } from './body-budget.js';
import { announcedBytes, watchProgress, type BodyReading } from './body.js';
import { createMultipartParser, malformed } from './multipart-parser.js';
import { takeFields, takeFiles, type FormState, type FormTarget } from './multipart-parts.js';

export interface UploadTarget<Stored> {
  readonly maxFileBytes: number;
  /** Makes the error that refuses a larger file. */
  readonly tooLarge: () => Error;
  /** The form fields that are read, with the most bytes of each; other fields are skipped. */
  readonly fields: Readonly<Record<string, number>>;
  /** Stores the part named `file`. Reading throws when the upload breaks off. */
  readonly storeFile: (file: IncomingFile) => Promise<Stored>;
  /** Called for each form field, and may throw to refuse the upload. `value` is null when the field exceeds its limit. */
  readonly onField?: (name: string, value: string | null) => void;
  /** Makes the error that refuses a second file, where the route knows better than that there is one too many. */
  readonly secondFile?: () => Error;
}

/**
 * Reads a multipart body once, with its parts in any order. Resolves with null when it holds no `file`. Rejects only after
 * `storeFile` has settled, so that the caller can remove the stored file.
 * @throws HttpError 400 malformed or broken off, 422 more than one file; TooLargeError; errors of the target
 */
export type ReceiveUpload = <Stored>(target: UploadTarget<Stored>) => Promise<Stored | null>;

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
  readonly store: FormTarget<Stored>['store'];
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

/** The bytes that form fields and part headers may take in addition to the files. */
const OVERHEAD_BYTES = 8 * 1024 * 1024;
const MAX_FIELDS = 64;
const MAX_FIELD_BYTES = 4 * 1024 * 1024;

export function isMultipart({ headers }: IncomingMessage): boolean {
  const type = headers['content-type'];
  return type !== undefined && /^\s*multipart\/form-data\s*(;|$)/i.test(type);
}

type UploadReading = Pick<BodyReading, 'onReading' | 'claim' | 'graceSeconds' | 'ignored'>;

/** A refused upload stays unread. Bytes count as held until they are passed on to storage. */
export function createUploadReceiver(request: IncomingMessage, reading: UploadReading): ReceiveUpload {
  return async ({ maxFileBytes, tooLarge, fields, storeFile, onField = () => undefined, ...target }) => {
    const { secondFile: tooMany = secondFile } = target;
    const parts = { name: 'file', maxFiles: 1, tooMany, fields, onField, store: storeFile };
    const stored = await readForm(request, { ...parts, maxBytes: maxFileBytes, tooLarge }, reading);
    return stored.at(0) ?? null;
  };
}

/** A refused form stays unread. Bytes count as held until they are passed on to storage. */
export function createFilesReceiver(
  request: IncomingMessage,
  { readJson, ...reading }: UploadReading & { readonly readJson: ReadJson },
): ReceiveFiles {
  return async ({ name, maxFiles, maxFileBytes, fields, words, onField, store }) => {
    const maxBytes = maxFileBytes * maxFiles;
    const texts = new Map<string, string>();
    const take = (field: string, value: string | null) => {
      if (value === null) throw fieldTooLong(field);
      onField?.(field, value);
      texts.set(field, value);
    };
    const tooMany = () => tooManyItems(name, maxFiles);
    const parts = { name, maxFiles, tooMany, fields, onField: take, store };
    const tooLarge = () => fileTooLarge(maxBytes);
    const files = await readForm(request, { ...parts, maxBytes, tooLarge }, reading);
    if (files.length === 0) throw missingFiles(name);
    const parsed = new Map<string, unknown>();
    for (const [field, text] of texts) {
      const isWord = words.includes(field) && !text.trimStart().startsWith('[');
      parsed.set(field, isWord ? text : await parseField(field, text, readJson));
    }
    return { files, fields: parsed };
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

interface BoundedForm<Stored> extends FormTarget<Stored> {
  /** The bytes of all files. */
  readonly maxBytes: number;
  /** Makes the error that refuses more. */
  readonly tooLarge: () => Error;
}

/** Reads a form to its end, and resolves with its files. */
async function readForm<Stored>(
  request: IncomingMessage,
  form: BoundedForm<Stored>,
  { onReading, claim, graceSeconds, ignored }: UploadReading,
): Promise<Stored[]> {
  if (announcedBytes(request) > form.maxBytes + OVERHEAD_BYTES) throw form.tooLarge();
  onReading();
  const parser = createParser(request, form.maxFiles);
  const reading = createState<Stored>({ request, parser, ignored }, [form.name, ...Object.keys(form.fields)]);
  const closed = new Promise<void>((resolve) => {
    parser.once('close', resolve);
  });
  parser.on('error', (error) => {
    reading.stop(malformed(error));
  });
  takeFields(parser, form, reading);
  takeFiles(parser, form, reading);
  const stopWatching = watchRequest(request, form, { reading, claim });
  const stopTiming = watchProgress(request, { graceSeconds }, reading.stop);
  if (!reading.failure) request.pipe(parser);
  await closed;
  const outcomes = await Promise.allSettled([...reading.stored, ...reading.fields]);
  stopWatching();
  stopTiming();
  if (reading.failure) throw reading.failure.error;
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return Promise.all(reading.stored);
}

function createParser(request: IncomingMessage, maxFiles: number): Busboy {
  // Fields may be sent like files, too. The number of files itself is counted where they are taken.
  const parts = maxFiles - 1 + MAX_FIELDS;
  const limits = { fields: MAX_FIELDS, files: parts, parts, fieldSize: MAX_FIELD_BYTES };
  return createMultipartParser(request.headers, limits);
}

interface FormParts {
  readonly request: IncomingMessage;
  readonly parser: Busboy;
  readonly ignored: IgnoredFields;
}

/** @param known the names of the parts that are read. Where others are refused, the form ends. */
function createState<Stored>({ request, parser, ignored }: FormParts, known: readonly string[]) {
  const state: FormState<Stored> = {
    stored: [],
    fields: [],
    failure: null,
    passedBytes: 0,
    stop: (error) => {
      state.failure ??= { error };
      request.unpipe(parser);
      parser.destroy();
    },
    onUnknown: (name) => {
      try {
        ignored.note(name, known);
      } catch (error) {
        state.stop(error);
      }
    },
  };
  return state;
}

/** Stops reading when the request breaks off or grows too large. Returns a function that ends the watch. */
function watchRequest(
  request: IncomingMessage,
  { maxBytes, tooLarge }: Pick<BoundedForm<unknown>, 'maxBytes' | 'tooLarge'>,
  { reading, claim }: { reading: FormState<unknown>; claim: BodyClaim },
): () => void {
  const { stop } = reading;
  let received = 0;
  const count = (bytes: Uint8Array) => {
    received += bytes.length;
    if (received > maxBytes + OVERHEAD_BYTES) stop(tooLarge());
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

/** The error for a second file in a form for one, with the way to send several where there is one. */
export const secondFile = (wayOut = ''): HttpError =>
  new HttpError(422, [
    { loc: ['body', 'file'], msg: `only one file is expected${wayOut}`, type: 'value_error' },
  ]);

/** The error for a form without the files that it is for. */
export const missingFiles = (name: string): HttpError =>
  new HttpError(422, [{ loc: ['body', name], msg: 'field required', type: 'value_error.missing' }]);

export const fieldTooLong = (name: string): HttpError =>
  new HttpError(422, [{ loc: ['body', name], msg: 'this field is too long', type: 'value_error' }]);
