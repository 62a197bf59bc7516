import { z } from 'zod';
import { isFinal } from '../../shared/document.js';
import { nonBlankString, optionalNull } from '../http/validation/field-schemas.js';
import { errorBody } from '../http/response/declared-responses.js';
import { defineRoute, type Route } from '../http/route.js';
import type { Admit } from '../services/ingest/admission/admission.js';
import type { ContentUpdates } from '../services/ingest/content-updates.js';
import { displayFilename, MAX_FILENAME_CHARACTERS } from '../../shared/documents/display-filename.js';
import { replyDocument, replyIngest } from './document-replies.js';
import { documentPath } from './documents.js';
import { putContentExamples } from './examples/documents.js';
import { ingestResponses } from './ingest/ingest.js';
import { contextOf } from './context-of.js';
import { OCR_DESCRIPTION, ocrMode, receiveFile } from './ingest/upload-fields.js';

const contentBody = z
  .object({
    content: nonBlankString().describe('The text.'),
    filename: optionalNull(nonBlankString({ max: MAX_FILENAME_CHARACTERS })).describe(
      'A new name. Without one, the old name stays.',
    ),
    ocr: optionalNull(ocrMode).describe(OCR_DESCRIPTION),
  })
  .meta({ id: 'DocumentContent', description: 'A text that replaces the content of a document.' });

const contentFields = z
  .object({
    file: z.string().meta({ format: 'binary', description: 'The file, with its name.' }),
    ocr: ocrMode.optional().meta({
      description:
        'Which pages and pictures are read by text recognition, as for `/ingest/file`. Default: what was stated for the ' +
        'content before. The same file with another mode is read anew.',
    }),
  })
  .meta({ id: 'DocumentFile', description: 'A file that replaces the content of a document.' });

export interface ContentRouteDependencies {
  readonly contentUpdates: ContentUpdates;
  readonly admit: Admit;
  /** The name of the bucket in the object storage. */
  readonly bucket: string;
}

export function createContentRoutes({ contentUpdates, admit, bucket }: ContentRouteDependencies): Route[] {
  return [
    defineRoute({
      method: 'put',
      path: '/documents/{document_id}/content',
      audit: 'document.replace',
      tag: 'Documents',
      permission: 'write',
      summary: 'Replace the content of a document by a text or a file',
      description:
        'Searches find the old version until the new one is ready. Content that is the same as before changes nothing.',
      request: { path: documentPath, body: contentBody },
      admit,
      upload: { fields: contentFields, alsoJson: true },
      responses: { ...ingestResponses, 412: errorBody },
      examples: putContentExamples,
      handle: async (request, reply) => {
        const { path, receiveUpload, prefer } = request;
        const asked = contextOf(request);
        const { changed, ...awaited } = receiveUpload
          ? await contentUpdates.putFile(path.document_id, receiveFile(receiveUpload), asked)
          : await contentUpdates.putText(path.document_id, textOf(request.body), asked);
        const context = { bucket, prefer };
        return reply.pending(awaited, (record) => {
          const isUnchanged = !changed && record !== null && isFinal(record);
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
