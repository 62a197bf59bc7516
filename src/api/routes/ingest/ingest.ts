import { z } from 'zod';
import { nonBlankString, optionalNull, optionalNullOr } from '../../http/validation/field-schemas.js';
import { metadata, accessControl, sourceId, statedLists } from '../../http/validation/document-fields.js';
import { intoCollection, INTO_DESCRIPTION } from '../../http/validation/search-fields.js';
import { missingFiles } from '../../http/request/upload.js';
import { errorBody } from '../../http/response/declared-responses.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { Admit } from '../../services/ingest/admission/admission.js';
import { chunkingSchema } from '../../../shared/chunking.js';
import { displayFilename, MAX_FILENAME_CHARACTERS } from '../../../shared/document.js';
import type { AnswerAgain } from '../../services/ingest/answer-again.js';
import type { Ingest, TextIngest } from '../../services/ingest/ingest.js';
import { replyIngest, documentView } from '../document-view.js';
import { ingestFileExamples, ingestTextExamples } from '../examples/ingest.js';
import {
  CHUNKING_DESCRIPTION,
  NOTHING_SAID,
  OCR_DESCRIPTION,
  ocrMode,
  onDuplicate,
  receiveDescribedFile,
  skipUpload,
  SOURCE_ID_DESCRIPTION,
} from './upload-fields.js';

const ON_DUPLICATE_DESCRIPTION =
  'The way to treat the request when you own a document with exactly this content, byte by byte, that you may read and whose ingest has ' +
  'neither failed nor been cancelled: `new` makes another one, `return` answers with the one that is there and ignores ' +
  'the other fields, and `reject` is a 409 that names it.';

export const textBody = z
  .object({
    content: nonBlankString().describe('The text.'),
    metadata: optionalNull(metadata).describe(
      'Any JSON object. Filters refer to its keys. The document of a known `source_id` keeps its own. Default: `{}`.',
    ),
    filename: optionalNull(nonBlankString({ max: MAX_FILENAME_CHARACTERS })).describe(
      'A name to show, by whose words the text is found, too. Folders in it are dropped.',
    ),
    access_control: optionalNull(accessControl).describe(
      'Who may read, change and share the document. A list that is left out holds the caller.',
    ),
    on_duplicate: optionalNullOr(onDuplicate, 'new').describe(ON_DUPLICATE_DESCRIPTION),
    ocr: optionalNull(ocrMode).describe(OCR_DESCRIPTION),
    chunking: optionalNull(chunkingSchema),
    source_id: optionalNull(sourceId).describe(SOURCE_ID_DESCRIPTION),
    collection: intoCollection.describe(INTO_DESCRIPTION),
  })
  .meta({ id: 'IngestText', description: 'A text to ingest, and what is to be known of it.' });

export const toText = ({
  content,
  metadata,
  filename,
  access_control,
  on_duplicate,
  ocr,
  chunking,
  source_id,
  collection,
}: z.output<typeof textBody>): TextIngest => ({
  content,
  metadata,
  filename: displayFilename(filename),
  accessControl: statedLists(access_control ?? {}),
  onDuplicate: on_duplicate,
  ocr: ocr ?? undefined,
  chunking,
  sourceId: source_id,
  collection,
});

const fileFields = z
  .object({
    file: z.string().meta({ format: 'binary', description: 'The file, with its name.' }),
    metadata: z
      .string()
      .optional()
      .meta({ description: 'A JSON object. Filters refer to its keys.', ...NOTHING_SAID }),
    access_control: z
      .string()
      .optional()
      .meta({
        description: 'A JSON object with any of the lists `readers`, `writers` and `admins`.',
        ...NOTHING_SAID,
      }),
    on_duplicate: onDuplicate.optional().meta({ description: ON_DUPLICATE_DESCRIPTION, default: 'new' }),
    ocr: ocrMode.optional().describe(OCR_DESCRIPTION),
    chunking: z
      .string()
      .optional()
      .meta({ description: CHUNKING_DESCRIPTION, ...NOTHING_SAID }),
    source_id: sourceId.optional().meta({ description: SOURCE_ID_DESCRIPTION, examples: [''] }),
    collection: z
      .string()
      .optional()
      .meta({ description: INTO_DESCRIPTION, examples: [''] }),
  })
  .meta({ id: 'IngestFile', description: 'A file to ingest, and what is to be known of it.' });

const WAIT_DESCRIPTION =
  'Answers 200 when searches can find the document, and 202 when that takes too long. The header `Prefer: wait=N` ' +
  'waits at most N seconds, and `Prefer: respond-async` does not wait.';

export const ingestResponses = {
  200: documentView,
  202: documentView,
  400: errorBody,
  404: errorBody,
  507: errorBody,
  409: errorBody,
} as const;

export interface IngestRouteDependencies {
  readonly ingest: Ingest;
  readonly answerAgain: AnswerAgain;
  readonly admit: Admit;
  /** The name of the bucket in the object storage. */
  readonly bucket: string;
  readonly maxFileBytes: number;
}

export function createIngestRoutes(dependencies: IngestRouteDependencies): Route[] {
  return [ingestTextRoute(dependencies), ingestFileRoute(dependencies)];
}

const common = {
  method: 'post',
  tag: 'Ingest',
  permission: 'write',
  description: WAIT_DESCRIPTION,
  responses: ingestResponses,
} as const;

const ingestTextRoute = ({ ingest, answerAgain, admit, bucket }: IngestRouteDependencies) =>
  defineRoute({
    ...common,
    path: '/ingest/text',
    audit: 'document.ingest',
    summary: 'Ingest a text',
    request: { body: textBody },
    admit,
    examples: ingestTextExamples,
    idempotency: {
      answerAgain: async (request, id, reply) => {
        const { prefer } = request;
        const awaited = await answerAgain(id, request.context);
        return reply.pending(awaited, (record) => replyIngest(record, { bucket, prefer }));
      },
    },
    handle: async (request, reply) => {
      const { prefer } = request;
      const awaited = await ingest.ingestText(toText(request.body), request.context);
      return reply.pending(awaited, (record) => replyIngest(record, { bucket, prefer }));
    },
  });

const ingestFileRoute = ({ ingest, answerAgain, admit, bucket, maxFileBytes }: IngestRouteDependencies) =>
  defineRoute({
    ...common,
    path: '/ingest/file',
    audit: 'document.ingest',
    summary: 'Ingest a file',
    request: {},
    admit,
    upload: { fields: fileFields, alsoJson: false },
    examples: ingestFileExamples,
    idempotency: {
      skipUpload: (receiveUpload) => skipUpload(receiveUpload, maxFileBytes),
      answerAgain: async (request, id, reply) => {
        const { prefer } = request;
        const awaited = await answerAgain(id, request.context);
        return reply.pending(awaited, (record) => replyIngest(record, { bucket, prefer }));
      },
    },
    handle: async (request, reply) => {
      const { receiveUpload, prefer } = request;
      if (!receiveUpload) throw missingFiles('file');
      const receive = receiveDescribedFile(receiveUpload);
      const awaited = await ingest.ingestFile(receive, request.context);
      return reply.pending(awaited, (record) => replyIngest(record, { bucket, prefer }));
    },
  });
