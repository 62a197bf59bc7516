import type { Busboy } from 'busboy';
import type { IncomingFile } from '../../services/ingest/incoming.js';
import { HttpError } from '../http-error.js';
import { GatheredBytes } from './body.js';
import { fieldText } from './multipart-parser.js';

export interface UploadTarget<Stored> {
  readonly maxFileBytes: number;
  /** Makes the error that refuses a larger file. */
  readonly tooLarge: () => Error;
  /** The form fields that are read, with the most bytes of each; other fields are skipped. */
  readonly fields: Readonly<Record<string, number>>;
  /** Stores the part named `file` and must read all of its bytes. Reading throws when the upload breaks off. */
  readonly storeFile: (file: IncomingFile) => Promise<Stored>;
  /** Called for each form field, and may throw to refuse the upload. `value` is null when the field exceeds its limit. */
  readonly onField?: (name: string, value: string | null) => void;
}

/** The state of one upload while its body is read. */
export interface UploadState {
  /** Form fields that were sent like files and are still being read. */
  readonly fields: Promise<void>[];
  failure: { readonly error: unknown } | null;
  readonly stop: (error: unknown) => void;
  /** Called with the name of each part that is not read. */
  readonly onUnknown: (name: string) => void;
  /** Bytes of parts that are no longer in memory: they were passed on to storage, or dropped. */
  passedBytes: number;
}

/** The same for an upload of one file. */
export interface FileState<Stored> extends UploadState {
  stored: Promise<Stored> | null;
}

type FieldTarget = Pick<UploadTarget<unknown>, 'fields' | 'onField'>;

/** Passes the form fields of a multipart body on to the target. */
export function takeFields(parser: Busboy, target: FieldTarget, reading: UploadState): void {
  // @NOTE busboy's type does not say that the name is undefined when the part gives none.
  parser.on('field', (name: string | undefined, value, info) => {
    const maxBytes = fieldLimit(target, name);
    if (name === undefined) return;
    if (maxBytes === null) {
      reading.onUnknown(name);
      return;
    }
    const text = fieldText(Buffer.from(value, 'latin1'), info.encoding);
    const fits = !info.valueTruncated && Buffer.byteLength(text) <= maxBytes;
    takeField(name, fits ? text : null, target, reading);
  });
  for (const limit of ['fieldsLimit', 'filesLimit', 'partsLimit'] as const) {
    parser.on(limit, () => {
      reading.stop(new HttpError(400, 'Too many form fields'));
    });
  }
}

function takeField(name: string, value: string | null, target: FieldTarget, reading: UploadState): void {
  if (reading.failure) return;
  try {
    target.onField?.(name, value);
  } catch (error) {
    reading.stop(error);
  }
}

/** Passes the file of a multipart body on to the target, and fields that are sent like files. */
export function takeFiles<Stored>(
  parser: Busboy,
  target: UploadTarget<Stored>,
  reading: FileState<Stored>,
): void {
  parser.on('file', (name: string | undefined, bytes, { filename = '', mimeType, encoding }) => {
    // Without a listener the error of a part that breaks off would end the process. Its reader gets the error as well.
    bytes.on('error', () => undefined);
    const maxBytes = fieldLimit(target, name);
    const drop = () => {
      bytes.on('data', (part: Buffer) => {
        reading.passedBytes += part.length;
      });
    };
    // The parser finishes the current chunk even after it was stopped.
    if (reading.failure) drop();
    else if (name === 'file' && reading.stored) reading.stop(secondFile());
    else if (name === 'file') {
      const file = {
        filename: filename === '' ? null : filename,
        declaredType: mimeType,
        bytes: countPassed(bytes, reading),
      };
      reading.stored = target.storeFile(file);
      reading.stored.catch(reading.stop);
    } else if (name !== undefined && maxBytes !== null) {
      const taken = collectField(bytes, { maxBytes, encoding }, reading).then((value) => {
        takeField(name, value, target, reading);
      });
      taken.catch(reading.stop);
      reading.fields.push(taken);
    } else {
      drop();
      if (name !== undefined) reading.onUnknown(name);
    }
  });
}

/** Passes a file's bytes on and counts them as no longer held. */
async function* countPassed(
  bytes: AsyncIterable<Uint8Array>,
  reading: UploadState,
): AsyncGenerator<Uint8Array> {
  for await (const part of bytes) {
    reading.passedBytes += part.length;
    yield part;
  }
}

/** Returns the most bytes that a field may have; null for a field that is not read. */
const fieldLimit = (target: FieldTarget, name: string | undefined): number | null =>
  name !== undefined && Object.hasOwn(target.fields, name) ? (target.fields[name] ?? null) : null;

/**
 * Reads a form field that was sent like a file, as browsers do with a Blob; null when it exceeds `maxBytes`. Nothing of it
 * is held then.
 */
export async function collectField(
  bytes: AsyncIterable<Uint8Array>,
  { maxBytes, encoding }: { readonly maxBytes: number; readonly encoding: string },
  reading: Pick<UploadState, 'passedBytes'>,
): Promise<string | null> {
  const gathered = new GatheredBytes();
  let size = 0;
  for await (const part of bytes) {
    size += part.length;
    if (size <= maxBytes) gathered.add(part);
    else {
      reading.passedBytes += gathered.size + part.length;
      gathered.clear();
    }
  }
  return size <= maxBytes ? fieldText(gathered.bytes, encoding) : null;
}

const secondFile = () =>
  new HttpError(422, [{ loc: ['body', 'file'], msg: 'only one file is expected', type: 'value_error' }]);
