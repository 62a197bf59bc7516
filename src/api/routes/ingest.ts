import { z } from 'zod';
import {
  accessControl,
  metadata,
  nonBlankString,
  optionalNull,
  optionalNullOr,
} from '../http/fields/validation.js';
import { errorBody } from '../http/reply/responses.js';
import { defineRoute, type Route } from '../http/route.js';
import type { Admit } from '../services/ingest/admission.js';
import { displayFilename } from '../services/ingest/filenames.js';
import type { Ingest } from '../services/ingest/ingest.js';
import { replyIngest } from './document-replies.js';
import { documentView } from './document-view.js';
import { ingestFileExamples, ingestTextExamples } from './examples/ingest.js';
import { contextOf } from './request-context.js';
import { compact, missingFile, receiveDescribedFile } from './upload-fields.js';

export const MAX_FILENAME = 255;

const textBody = z
  .object({
    content: nonBlankString().describe('The text.'),
    metadata: optionalNullOr(metadata, {}).describe('Any JSON object. Filters refer to its keys.'),
    filename: optionalNull(nonBlankString({ max: MAX_FILENAME })),
    access_control: optionalNull(accessControl).describe(
      'Who may read, change and share the document. A list that is left out holds the caller.',
    ),
  })
  .meta({ id: 'IngestText', description: 'A text to ingest, and what is to be known of it.' });

const fileFields = z
  .object({
    file: z.string().meta({ format: 'binary', description: 'The file, with its name.' }),
    metadata: z.string().optional().describe('A JSON object. Filters refer to its keys.'),
    access_control: z
      .string()
      .optional()
      .describe('A JSON object with any of the lists `readers`, `writers` and `admins`.'),
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
  409: errorBody,
} as const;

export interface IngestRouteDependencies {
  readonly ingest: Ingest;
  readonly admit: Admit;
  /** Name of the object storage's bucket. */
  readonly bucket: string;
}

export function createIngestRoutes({ ingest, admit, bucket }: IngestRouteDependencies): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/ingest/text',
      tag: 'Documents',
      permission: 'write',
      summary: 'Ingest a text',
      description: WAIT_DESCRIPTION,
      request: { body: textBody },
      admit,
      responses: ingestResponses,
      examples: ingestTextExamples,
      handle: async (request, reply) => {
        const { content, metadata, filename, access_control } = request.body;
        const accessControl = compact(access_control ?? {});
        const text = { content, metadata, filename: displayFilename(filename), accessControl };
        const { prefer } = request;
        const awaited = await ingest.ingestText(text, contextOf(request));
        return reply.pending(awaited, (record) => replyIngest(record, { bucket, prefer }));
      },
    }),
    defineRoute({
      method: 'post',
      path: '/ingest/file',
      tag: 'Documents',
      permission: 'write',
      summary: 'Ingest a file',
      description: WAIT_DESCRIPTION,
      request: {},
      admit,
      upload: { fields: fileFields, alsoJson: false },
      responses: ingestResponses,
      examples: ingestFileExamples,
      handle: async (request, reply) => {
        const { receiveUpload, prefer } = request;
        if (!receiveUpload) throw missingFile();
        const receive = receiveDescribedFile(receiveUpload);
        const awaited = await ingest.ingestFile(receive, contextOf(request));
        return reply.pending(awaited, (record) => replyIngest(record, { bucket, prefer }));
      },
    }),
  ];
}
