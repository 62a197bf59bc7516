import { z } from 'zod';
import { optionalNull, optionalNullOr } from '../../http/validation/field-schemas.js';
import {
  metadata,
  accessControl as accessLists,
  MAX_SOURCE_ID,
  sourceId,
  statedLists,
} from '../../http/validation/document-fields.js';
import { intoCollection } from '../../http/validation/search-fields.js';
import { parseRequest } from '../../http/validation/validation-errors.js';
import { HttpError } from '../../http/http-error.js';
import { parseJson } from '../../http/json/json.js';
import {
  fieldTooLong,
  missingFiles,
  secondFile,
  type ReceiveUpload,
  type UploadTarget,
} from '../../http/request/upload.js';
import { ON_DUPLICATE } from '../../services/ingest/duplicates.js';
import {
  fileTooLarge,
  type FileTarget,
  type IncomingFile,
  type ReceiveFile,
} from '../../services/ingest/incoming.js';
import type { FileUpdate } from '../../services/ingest/content-updates.js';
import { chunkingSchema } from '../../../shared/chunking.js';
import { OCR_MODES } from '../../../readers/index.js';
import type { DocumentDetails } from '../../services/ingest/ingest.js';

/** The most bytes of JSON in each field, white space and escapes included. The schemas bound its content. */
export const LIMITS = { metadata: 128 * 1024, access_control: 4 * 1024 * 1024 } as const;

/** Fields that are words, with the most bytes of each. All others are JSON objects. */
const WORDS = { on_duplicate: 64, ocr: 64, source_id: 4 * MAX_SOURCE_ID, collection: 256 } as const;
const isWord = (name: string): boolean => Object.hasOwn(WORDS, name);
/** More than its three fields need. */
const CHUNKING_BYTES = 1_024;
const FIELDS = { ...LIMITS, ...WORDS, chunking: CHUNKING_BYTES };

/** The rest of the error for a second file: the routes of new documents have a neighbour that takes several. */
const MANY_FILES = '; POST /ingest/files takes several, as parts named files';
const severalFiles = () => secondFile(MANY_FILES);

/** Pages fill the first example of a form's field in. This one says nothing, where without any they would write `string`. */
export const NOTHING_SAID = { examples: ['{}'] };

export const onDuplicate = z.enum(ON_DUPLICATE);
export const ocrMode = z.enum(OCR_MODES);
export const OCR_DESCRIPTION =
  'Which pages and pictures of a file are read by text recognition: `auto` for those that need it, `off` for none, ' +
  '`force` for all. Default: what the service is set to. A text has none.';

export const SOURCE_ID_DESCRIPTION =
  'The name of the source, such as its path or address. If you have a document of this name, its content is replaced in ' +
  'place, and the rest as far as it is stated.';

/** The fields beside a file that replaces another one. */
const CONTENT_FIELDS = { ocr: WORDS.ocr, chunking: CHUNKING_BYTES } as const;

export const CHUNKING_DESCRIPTION =
  'How the text is cut into chunks, a JSON object: `size` (16 to 4,096 tokens), `overlap`, and `splitter` (`quire`, or one ' +
  'of LangChain: `recursive`, `markdown`, `latex` or a language such as `python`). Default: what the service is set to.';

/** Forms of pages send an empty text for a field that was left alone. */
const leftAlone = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema);

const fieldsSchema = z.object({
  metadata: optionalNull(metadata),
  access_control: optionalNull(accessLists),
  on_duplicate: optionalNullOr(onDuplicate, 'new'),
  ocr: optionalNull(ocrMode),
  chunking: optionalNull(chunkingSchema),
  source_id: leftAlone(optionalNull(sourceId)),
  collection: leftAlone(intoCollection),
});

/** Receives the file of an upload and how it is to be read, and skips all other form fields. */
export function receiveFile(receiveUpload: ReceiveUpload): ReceiveFile<FileUpdate> {
  return async (target) => {
    const fields = createUploadFields();
    const stored = await receive(receiveUpload, target, { fields: CONTENT_FIELDS, onField: fields.take });
    return { stored, details: fields.details() };
  };
}

/**
 * Receives the file of an upload and the form fields beside it.
 * @throws HttpError 400 for a field that is not a JSON object, 422 for a field that exceeds the limits
 */
export function receiveDescribedFile(receiveUpload: ReceiveUpload): ReceiveFile<DocumentDetails> {
  return async (target) => {
    const fields = createUploadFields();
    const described = { fields: FIELDS, onField: fields.take, secondFile: severalFiles };
    const stored = await receive(receiveUpload, target, described);
    return { stored, details: fields.details() };
  };
}

/** Reads an upload to its end, for its fingerprint, and keeps nothing of it. */
export async function skipUpload(receiveUpload: ReceiveUpload, maxBytes: number): Promise<void> {
  const store = async ({ bytes }: IncomingFile) => {
    let skipped = 0;
    for await (const part of bytes) {
      skipped += part.length;
      if (skipped > maxBytes) throw fileTooLarge(maxBytes);
    }
  };
  const tooLarge = () => fileTooLarge(maxBytes);
  await receive(receiveUpload, { maxBytes, tooLarge, store }, { fields: FIELDS, secondFile: severalFiles });
}

async function receive<Stored>(
  receiveUpload: ReceiveUpload,
  { maxBytes, tooLarge, store }: FileTarget<Stored>,
  fields: Pick<UploadTarget<Stored>, 'fields' | 'onField' | 'secondFile'>,
): Promise<Stored> {
  // The result is wrapped in a list because the stored value may itself be null.
  const stored = await receiveUpload({
    ...fields,
    maxFileBytes: maxBytes,
    tooLarge,
    storeFile: async (file) => [await store(file)] as const,
  });
  if (!stored) throw missingFiles('file');
  return stored[0];
}

/** @throws HttpError 422 for fields that are not as they should be */
export function parseDetails(fields: Readonly<Record<string, unknown>>): DocumentDetails {
  const stated = parseRequest(fieldsSchema, fields, 'body');
  const {
    metadata,
    access_control,
    on_duplicate: onDuplicate,
    ocr,
    chunking,
    source_id,
    collection,
  } = stated;
  const accessControl = statedLists(access_control ?? {});
  const reading = { ocr, chunking };
  return { metadata, accessControl, onDuplicate, ...reading, sourceId: source_id, collection };
}

/** Each field is checked when it arrives, so that an invalid one ends the upload. */
export function createUploadFields() {
  const taken = new Map<string, unknown>();
  const parse = () => parseDetails(Object.fromEntries(taken));
  return {
    take: (name: string, value: string | null): void => {
      if (value === null) throw fieldTooLong(name);
      taken.set(name, isWord(name) ? value : parseObject(name, value));
      parse();
    },
    details: parse,
  };
}

function parseObject(name: string, text: string): unknown {
  const value = attemptJson(text);
  const isObject = typeof value === 'object' && !Array.isArray(value);
  if (!isObject) throw new HttpError(400, `Invalid ${name} JSON`);
  return value;
}

function attemptJson(text: string): unknown {
  try {
    return parseJson(Buffer.from(text), { exactFrom: 1 });
  } catch (error) {
    if (error instanceof HttpError) return undefined;
    throw error;
  }
}
