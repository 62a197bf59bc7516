import { z } from 'zod';
import { noteDocuments } from '../../../shared/audit/notes.js';
import {
  displayFilename,
  DOCUMENT_STATUSES,
  MAX_FILENAME_CHARACTERS,
  type Metadata,
} from '../../../shared/document.js';
import { nonBlankString, optionalNull } from '../../http/validation/field-schemas.js';
import { replyIngest } from '../../routes/document-view.js';
import { textBody } from '../../routes/ingest/ingest.js';
import { documentNotFound } from '../../services/documents/document-access.js';
import type { Admit } from '../../services/ingest/admission/admission.js';
import type { Ingest, TextIngest } from '../../services/ingest/ingest.js';
import { viewUrlOf } from '../../services/retrieval/sources.js';
import { documentTitle } from './passages.js';
import { defineTool, type McpRequest } from './tool.js';

interface IngestParts {
  readonly ingest: Ingest;
  readonly admit: Admit;
  readonly bucket: string;
}

export const createIngestTextTool = (parts: IngestParts) =>
  defineTool({
    name: 'ingest_text',
    title: 'Add a text',
    description:
      'Adds a text as a new document that its user alone may read, and that searches find from then on. The same text ' +
      'again answers with the document that is there.',
    permission: 'write',
    action: 'document.ingest',
    input: z.object({
      content: textBody.shape.content,
      title: optionalNull(nonBlankString({ max: MAX_FILENAME_CHARACTERS })).describe(
        'A title to show, by whose words the text is found, too.',
      ),
      metadata: textBody.shape.metadata,
    }),
    output: z.object({
      id: z.string().describe('The id to fetch its text.'),
      title: z.string(),
      url: z.string(),
      status: z.enum(DOCUMENT_STATUSES).describe('Searches find it once it is `completed`.'),
    }),
    run: async ({ content, title, metadata }, request) => {
      const record = await store(parts, textOf({ content, title, metadata }), request);
      return {
        id: record.id,
        title: documentTitle(record, content),
        url: viewUrlOf({ documentId: record.id }, { baseUrl: request.baseUrl }),
        status: record.status,
      };
    },
  });

interface Given extends Pick<TextIngest, 'content'> {
  readonly metadata: Metadata | undefined;
  readonly title: string | undefined;
}

/** A title is no path: as a file name it would lose what stands before a slash. */
const textOf = ({ content, title, metadata = {} }: Given): TextIngest => ({
  content,
  metadata: title === undefined || 'title' in metadata ? metadata : { ...metadata, title },
  filename: displayFilename(title?.replace(/[/\\]/g, ' ')),
  accessControl: {},
  onDuplicate: 'return',
  ocr: undefined,
  collection: undefined,
});

/** Stores a text and waits until it is found, as long as requests wait by themselves. */
async function store({ ingest, admit, bucket }: IngestParts, text: TextIngest, request: McpRequest) {
  const arrival = await admit(request.caller.id);
  let settled;
  try {
    ({ settled } = await ingest.ingestText(text, { ...request.context, arrival }));
  } finally {
    arrival.leave();
  }
  const record = await settled;
  if (!record) throw documentNotFound();
  noteDocuments([record.id]);
  // It throws where the ingest has failed.
  replyIngest(record, { bucket, prefer: request.prefer });
  return record;
}
