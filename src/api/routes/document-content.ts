import { z } from 'zod';
import { defineRoute, reply, type Route } from '../route.js';
import type { Admit } from '../services/admission.js';
import type { ContentUpdates } from '../services/content-updates.js';
import { isSettled } from '../services/document-view.js';
import { displayFilename } from '../services/filenames.js';
import { nonBlankString, optionalNull } from '../validation.js';
import { replyDocument, replyIngest } from './document-replies.js';
import { documentPath } from './documents.js';
import { ingestResponses, MAX_FILENAME } from './ingest.js';

const contentBody = z
  .object({ content: nonBlankString(), filename: optionalNull(nonBlankString({ max: MAX_FILENAME })) })
  .meta({ id: 'DocumentContent' });

const contentFields = z.object({ file: z.string().meta({ format: 'binary' }) }).meta({ id: 'DocumentFile' });

export interface ContentRouteDependencies {
  readonly contentUpdates: ContentUpdates;
  readonly admit: Admit;
  /** Name of the object storage's bucket. */
  readonly bucket: string;
}

export function createContentRoutes({ contentUpdates, admit, bucket }: ContentRouteDependencies): Route[] {
  return [
    defineRoute({
      ...{ method: 'put', path: '/documents/{document_id}/content', tag: 'Documents', permission: 'write' },
      summary: 'Replace the content of a document by a text or a file',
      request: { path: documentPath, body: contentBody },
      admit,
      upload: { fields: contentFields, alsoJson: true },
      responses: ingestResponses,
      handle: async (request) => {
        const { path, receiveUpload, prefer } = request;
        const { changed, ...settling } = receiveUpload
          ? await contentUpdates.putFile(path.document_id, receiveUpload, request)
          : await contentUpdates.putText(path.document_id, textOf(request.body), request);
        const context = { bucket, prefer };
        return reply.pending(settling, (record) => {
          const isUnchanged = !changed && record !== null && isSettled(record);
          return isUnchanged ? replyDocument(record, true, context) : replyIngest(record, context);
        });
      },
    }),
  ];
}

const textOf = ({ content, filename }: z.infer<typeof contentBody>) => ({
  content,
  filename: displayFilename(filename) ?? undefined,
});
