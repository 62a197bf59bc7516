import type { Readable } from 'node:stream';
import type { Busboy } from 'busboy';
import type { IncomingFile } from '../../services/ingest/incoming.js';
import { HttpError } from '../http-error.js';
import { GatheredBytes } from './body.js';
import { fieldText, malformed } from './multipart-parser.js';

/** The parts of a form that are read. */
export interface FormTarget<Stored> {
  /** The name of the parts that are files, and how many there may be. */
  readonly name: string;
  readonly maxFiles: number;
  /** Makes the error that refuses one file more. */
  readonly tooMany: () => Error;
  /** The form fields that are read, with the most bytes of each; other fields are skipped. */
  readonly fields: Readonly<Record<string, number>>;
  /** Called for each form field, and may throw to refuse the form. `value` is null when the field exceeds its limit. */
  readonly onField: (name: string, value: string | null) => void;
  /**
   * Stores a file, which need not be read to its end: the rest is skipped. It rejects only where the form cannot go on.
   * Reading throws when the upload breaks off.
   */
  readonly store: (file: IncomingFile) => Promise<Stored>;
}

/** The state of a form while its body is read. */
export interface FormState<Stored> {
  /** Files in the order of their parts, some of which are still being read. */
  readonly stored: Promise<Stored>[];
  /** Form fields that were sent like files and are still being read. */
  readonly fields: Promise<void>[];
  failure: { readonly error: unknown } | null;
  readonly stop: (error: unknown) => void;
  /** Called with the name of each part that is not read. */
  readonly onUnknown: (name: string) => void;
  /** Bytes of parts that are no longer in memory: they were passed on to storage, or dropped. */
  passedBytes: number;
}

/** Passes the form fields of a multipart body on to the target. */
export function takeFields(
  parser: Busboy,
  target: Pick<FormTarget<unknown>, 'fields' | 'onField'>,
  reading: FormState<unknown>,
): void {
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

function takeField(
  name: string,
  value: string | null,
  { onField }: Pick<FormTarget<unknown>, 'onField'>,
  reading: FormState<unknown>,
): void {
  if (reading.failure) return;
  try {
    onField(name, value);
  } catch (error) {
    reading.stop(error);
  }
}

/** Passes the files of a multipart body on to the target, one after the other, and fields that are sent like files. */
export function takeFiles<Stored>(
  parser: Busboy,
  target: FormTarget<Stored>,
  reading: FormState<Stored>,
): void {
  parser.on('file', (name: string | undefined, bytes, { filename = '', mimeType, encoding }) => {
    // Without a listener the error of a part that breaks off would end the process. Its reader gets the error as well.
    bytes.on('error', () => undefined);
    const countPassed = () =>
      bytes.on('data', (part: Buffer) => {
        reading.passedBytes += part.length;
      });
    const maxBytes = fieldLimit(target, name);
    // The parser finishes the current chunk even after it was stopped.
    if (reading.failure) countPassed();
    else if (name === target.name && reading.stored.length === target.maxFiles) {
      countPassed();
      reading.stop(target.tooMany());
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
      reading.stored.push(storing);
    } else if (name !== undefined && maxBytes !== null) {
      const taken = collectField(bytes, { maxBytes, encoding }, reading).then((value) => {
        takeField(name, value, target, reading);
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

/** Returns the most bytes that a field may have; null for a field that is not read. */
const fieldLimit = (
  { fields }: Pick<FormTarget<unknown>, 'fields'>,
  name: string | undefined,
): number | null => (name !== undefined && Object.hasOwn(fields, name) ? (fields[name] ?? null) : null);

/**
 * Reads a form field that was sent like a file, as browsers do with a Blob; null when it exceeds `maxBytes`. Nothing of it
 * is held then.
 */
async function collectField(
  bytes: AsyncIterable<Uint8Array>,
  { maxBytes, encoding }: { readonly maxBytes: number; readonly encoding: string },
  reading: Pick<FormState<unknown>, 'passedBytes'>,
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
