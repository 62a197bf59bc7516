import { z } from 'zod';
import { errorBody } from '../responses.js';
import { defineRoute, reply, type Route } from '../route.js';
import type { Admit } from '../services/admission.js';
import { documentView } from '../services/document-view.js';
import { displayFilename } from '../services/filenames.js';
import type { Ingest } from '../services/ingest.js';
import { missingFile } from '../services/sources.js';
import { compact } from '../services/upload-fields.js';
import { accessControl, metadata, nonBlankString, optionalNull, optionalNullOr } from '../validation.js';
import { replyIngest } from './document-replies.js';

export const MAX_FILENAME = 255;

const textBody = z
  .object({
    content: nonBlankString(),
    metadata: optionalNullOr(metadata, {}),
    filename: optionalNull(nonBlankString({ max: MAX_FILENAME })),
    access_control: optionalNull(accessControl),
  })
  .meta({ id: 'IngestText' });

const fileFields = z
  .object({
    file: z.string().meta({ format: 'binary' }),
    metadata: z.string().optional().describe('A JSON object'),
    access_control: z
      .string()
      .optional()
      .describe('A JSON object with any of the lists readers, writers, admins'),
  })
  .meta({ id: 'IngestFile' });

export const ingestResponses = {
  ...{ 200: documentView, 202: documentView },
  ...{ 400: errorBody, 404: errorBody, 409: errorBody },
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
      ...{ method: 'post', path: '/ingest/text', tag: 'Documents', permission: 'write' },
      summary: 'Ingest a text',
      request: { body: textBody },
      admit,
      responses: ingestResponses,
      handle: async (request) => {
        const { content, metadata, filename, access_control } = request.body;
        const accessControl = compact(access_control ?? {});
        const text = { content, metadata, filename: displayFilename(filename), accessControl };
        const { prefer } = request;
        const settling = await ingest.ingestText(text, request);
        return reply.pending(settling, (record) => replyIngest(record, { bucket, prefer }));
      },
    }),
    defineRoute({
      ...{ method: 'post', path: '/ingest/file', tag: 'Documents', permission: 'write' },
      summary: 'Ingest a file',
      request: {},
      admit,
      upload: { fields: fileFields, alsoJson: false },
      responses: ingestResponses,
      handle: async (request) => {
        const { receiveUpload, prefer } = request;
        if (!receiveUpload) throw missingFile();
        const settling = await ingest.ingestFile(receiveUpload, request);
        return reply.pending(settling, (record) => replyIngest(record, { bucket, prefer }));
      },
    }),
  ];
}
