import { z } from 'zod';
import { isPlainObject } from '../../../shared/json-values.js';
import { nextSlice } from '../../../shared/tools/time-slices.js';
import { HttpError } from '../../http/http-error.js';
import { missingFiles, type ReceiveFiles } from '../../http/request/upload.js';
import { INTO_DESCRIPTION } from '../../http/validation/search-fields.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { Admit } from '../../services/ingest/admission/admission.js';
import type { FileDetails, IngestFiles } from '../../services/ingest/batch/ingest-files.js';
import { ingestFilesExamples } from '../examples/ingest.js';
import { admitFirst, batchResponses, replyBatch } from './ingest-batch.js';
import { NOTHING_SAID, parseDetails } from './upload-fields.js';

const DESCRIPTION =
  'Takes many files in one form, and answers with one outcome for each, in their order: a document, or what is wrong ' +
  'with the file. The others go in. Each file is stored as by `/ingest/file`. Answers 200 when all are done, and 202 ' +
  'otherwise. The header `Prefer: wait=N` waits at most N seconds for all of them together, and `Prefer: respond-async` ' +
  'does not wait. The documents are made when the whole form has arrived.';

const OCR_DESCRIPTION =
  'Which pages and pictures are read by text recognition (see `/ingest/file`): `auto`, `off` or `force` for all files, or ' +
  'a JSON array with one of these words for each of them.';

const SOURCE_ID_DESCRIPTION =
  'The names of the sources (see `/ingest/file`): a JSON array with a name, or null, for each of the files; or the name ' +
  'itself for a single file, unless it begins with `[`.';

const collectionField = z
  .string()
  .optional()
  .meta({
    description: `${INTO_DESCRIPTION} One for all files, or a JSON array with one for each of them.`,
    examples: [''],
  });

const ocrField = z
  .string()
  .optional()
  .meta({ description: OCR_DESCRIPTION, examples: ['auto'] });

const sourceIdField = z
  .string()
  .optional()
  .meta({ description: SOURCE_ID_DESCRIPTION, examples: [''] });

const chunkingField = z
  .string()
  .optional()
  .meta({
    description:
      'How the texts are cut into chunks (see `/ingest/file`): a JSON object for all files, or a JSON array with an object ' +
      'for each of them.',
    ...NOTHING_SAID,
  });

const fieldsOf = (maxFiles: number) =>
  z
    .object({
      files: z
        .array(z.string().meta({ format: 'binary' }))
        .max(maxFiles)
        .describe('The files, each with its name.'),
      metadata: z
        .string()
        .optional()
        .meta({
          description: 'A JSON object for all files, or a JSON array with an object for each of them.',
          ...NOTHING_SAID,
        }),
      access_control: z
        .string()
        .optional()
        .meta({
          description:
            'A JSON object with any of the lists `readers`, `writers` and `admins` for all files, or a JSON array with ' +
            'an object for each of them.',
          ...NOTHING_SAID,
        }),
      on_duplicate: z
        .string()
        .optional()
        .meta({
          description:
            'The way to treat contents that you have already, also as an earlier file of the form (see `/ingest/file`): ' +
            '`new`, `return` or `reject` for all files, or a JSON array with one of these words for each of them.',
          examples: ['new'],
          default: 'new',
        }),
      ocr: ocrField,
      chunking: chunkingField,
      source_id: sourceIdField,
      collection: collectionField,
    })
    .meta({ id: 'IngestFiles', description: 'Files to ingest, and what is to be known of each.' });

export interface FilesRouteDependencies {
  readonly ingestFiles: IngestFiles;
  readonly admit: Admit;
  readonly maxFiles: number;
  readonly maxFileBytes: number;
}

/** The most bytes of a field, counted once for each file: as much as a form field may have at all. */
const FIELD_BYTES = 4 * 1024 * 1024;
const FORM = {
  name: 'files',
  fields: {
    metadata: FIELD_BYTES,
    access_control: FIELD_BYTES,
    on_duplicate: FIELD_BYTES,
    ocr: FIELD_BYTES,
    chunking: FIELD_BYTES,
    source_id: FIELD_BYTES,
    collection: FIELD_BYTES,
  },
  words: ['on_duplicate', 'ocr', 'source_id', 'collection'],
};

export const ingestFilesRoute = ({
  ingestFiles,
  admit,
  maxFiles,
  maxFileBytes,
}: FilesRouteDependencies): Route =>
  defineRoute({
    method: 'post',
    tag: 'Ingest',
    permission: 'write',
    path: '/ingest/files',
    audit: 'document.ingest',
    summary: 'Ingest many files',
    description: DESCRIPTION,
    request: {},
    upload: { fields: fieldsOf(maxFiles), alsoJson: false },
    admit: admitFirst(admit),
    responses: batchResponses,
    examples: ingestFilesExamples,
    idempotency: { skipFiles: skipFilesOf(maxFiles, maxFileBytes) },
    handle: async (request, reply) => {
      const { receiveFiles, prefer, takeIgnored } = request;
      if (!receiveFiles) throw missingFiles('files');
      const awaited = await ingestFiles(async ({ store }) => {
        const { files, fields } = await receiveFiles({ ...FORM, maxFiles, maxFileBytes, store });
        return { files, details: await detailsOf(fields, files.length) };
      }, request.context);
      return reply.pending(awaited, (outcomes) => replyBatch(outcomes, prefer, takeIgnored));
    },
  });

/** Reads a form to its end, for its fingerprint, and keeps nothing of it. */
const skipFilesOf =
  (maxFiles: number, maxFileBytes: number) =>
  async (receiveFiles: ReceiveFiles): Promise<void> => {
    await receiveFiles({ ...FORM, maxFiles, maxFileBytes, store: () => Promise.resolve(null) });
  };

/** @throws HttpError 400 or 422 for fields that say nothing of single files, or of another number of them */
async function detailsOf(fields: ReadonlyMap<string, unknown>, count: number): Promise<FileDetails[]> {
  const values = Object.keys(FORM.fields).map(
    (name) => [name, perFile(name, fields.get(name), count)] as const,
  );
  const details: FileDetails[] = [];
  for (let i = 0; i < count; i += 1) {
    await nextSlice();
    details.push(detailsOfOne(Object.fromEntries(values.map(([name, each]) => [name, each[i]]))));
  }
  return details;
}

function detailsOfOne(stated: Readonly<Record<string, unknown>>): FileDetails {
  try {
    return { details: parseDetails(stated) };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return { error };
  }
}

/**
 * Requires that a value for all files may be stored with each of them: it may take no more than if it were written for
 * each.
 */
function requireFitsAll(name: string, value: unknown, count: number): void {
  const bytes = isPlainObject(value) ? Buffer.byteLength(JSON.stringify(value)) : 0;
  if (bytes * count <= FIELD_BYTES) return;
  const msg = `for ${String(count)} files it may take at most ${String(Math.floor(FIELD_BYTES / count))} bytes`;
  const item = { loc: ['body', name], msg, type: 'value_error', ctx: { limit_value: FIELD_BYTES } };
  throw new HttpError(422, [item]);
}

function perFile(name: string, value: unknown, count: number): readonly unknown[] {
  const isOfOne = name === 'source_id' && count > 1 && value !== undefined && value !== null && value !== '';
  if (!Array.isArray(value) && !isOfOne) {
    if (!FORM.words.includes(name) && value !== undefined && value !== null && !isPlainObject(value))
      throw new HttpError(400, `Invalid ${name} JSON`);
    requireFitsAll(name, value, count);
    return Array.from({ length: count }, () => value);
  }
  if (Array.isArray(value) && value.length === count) return value;
  const what = FORM.words.includes(name) ? 'word' : 'object';
  const msg = `a list must hold one ${what} for each file`;
  throw new HttpError(422, [{ loc: ['body', name], msg, type: 'value_error' }]);
}
