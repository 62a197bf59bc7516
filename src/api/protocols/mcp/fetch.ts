import { z } from 'zod';
import { shownContent } from '../../../shared/document.js';
import { nonBlankString } from '../../http/validation/field-schemas.js';
import type { Documents } from '../../services/documents/read-documents.js';
import { viewUrlOf } from '../../services/retrieval/sources.js';
import { documentTitle, PLACE_DESCRIPTION, readPassage, tellingText, type PassageText } from './passages.js';
import { defineTool } from './tool.js';

const MAX_ID_CHARACTERS = 64;

export const createFetchTool = (documents: Documents) =>
  defineTool({
    name: 'fetch',
    title: 'Read a document',
    description:
      'Reads a passage that a search has found, with what stands around it, or a document from its beginning.',
    permission: 'read',
    action: 'document.read',
    input: z.object({ id: nonBlankString({ max: MAX_ID_CHARACTERS }).describe(PLACE_DESCRIPTION) }),
    output: z.object({
      id: z.string(),
      title: z.string(),
      text: z.string(),
      url: z.string().describe('The address to cite.'),
      metadata: z
        .record(z.string(), z.unknown())
        .describe('Facts about the document; in `metadata` those that its owner has given it.'),
    }),
    run: async ({ id }, request) => {
      const passage = await readPassage(documents, id, request);
      return {
        id,
        title: documentTitle(passage.record, passage.text),
        text: tellingText(passage),
        url: viewUrlOf(passage.place, { baseUrl: request.baseUrl }),
        metadata: factsOf(passage),
      };
    },
  });

function factsOf({ record, first, last, count, next }: PassageText): Record<string, unknown> {
  const { contentType, filename } = shownContent(record);
  return {
    document_id: record.id,
    filename,
    content_type: contentType,
    owner: record.ownerId,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    first_chunk: first,
    last_chunk: last,
    chunk_count: count,
    next_id: next,
    metadata: record.metadata,
  };
}
