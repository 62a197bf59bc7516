import { z } from 'zod';
import { nonBlankString, optionalNull, optionalNullOr } from '../http/validation/field-schemas.js';
import { metadata } from '../http/validation/metadata.js';
import { accessControl } from '../http/validation/access-lists.js';
import { errorBody } from '../http/response/declared-responses.js';
import { defineRoute, type Route } from '../http/route.js';
import type { Admit } from '../services/ingest/admission.js';
import { displayFilename } from '../services/ingest/filenames.js';
import type { Ingest } from '../services/ingest/ingest.js';
import { replyIngest } from './document-replies.js';
import { documentView } from './document-view.js';
import { contextOf } from './request-context.js';
import { compact, missingFile, receiveDescribedFile } from './upload-fields.js';

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
      request: { body: textBody },
      admit,
      responses: ingestResponses,
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
      request: {},
      admit,
      upload: { fields: fileFields, alsoJson: false },
      responses: ingestResponses,
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
