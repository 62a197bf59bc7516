import { z } from 'zod';
import { noteDocuments } from '../../../shared/audit/notes.js';
import { bodyFilters, collectionField } from '../../http/validation/search-fields.js';
import { jsonInteger, nonBlankString, optionalNullOr } from '../../http/validation/field-schemas.js';
import { MAX_QUERY_CHARACTERS } from '../../routes/retrieval.js';
import type { FoundChunk, Retrieval } from '../../services/retrieval/retrieval.js';
import { viewUrlOf } from '../../services/retrieval/sources.js';
import { passageId, titleOf } from './passages.js';
import { defineTool, type McpRequest } from './tool.js';

export const question = nonBlankString({ max: MAX_QUERY_CHARACTERS });

/** Models write filters by example: the whole schema of the language refers to itself, which many hosts do not take. */
export const filters = z
  .unknown()
  .optional()
  .pipe(bodyFilters)
  .meta({
    override: {
      type: 'object',
      additionalProperties: true,
      description:
        'Conditions on the metadata of documents, by key, such as {"topic": "law", "year": {"$gte": 2020}}. Operators: ' +
        '$eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists, $and, $or, $not.',
    },
  });

/** Fewer than other searches may ask for: the results fill the memory of a model. */
const MAX_RESULTS = 50;
export const results = optionalNullOr(jsonInteger({ ge: 1, le: MAX_RESULTS }), 8);

const result = z.object({
  id: z.string().describe('The id to fetch the passage with what stands around it.'),
  title: z.string(),
  url: z.string().describe('The address to cite.'),
  text: z.string().describe('The passage.'),
});

export const createSearchTool = (retrieval: Retrieval) =>
  defineTool({
    name: 'search',
    title: 'Search documents',
    description:
      'Finds the passages of the documents in Quire that fit a query best, best first. Use it before answering about ' +
      'anything that the documents may tell, and fetch the id of a result to read on around it.',
    permission: 'read',
    action: 'document.search',
    input: z.object({
      query: question.describe('A question, or the words to look for.'),
      filters,
      collection: collectionField,
      k: results.describe('How many passages are returned at most.'),
    }),
    output: z.object({ results: z.array(result) }),
    run: async ({ query, filters: { filter }, collection, k }, request) => {
      const asked = { ...searchOf(request), query, filter, collection, k };
      const { items } = await retrieval.chunks(asked);
      const found: z.infer<typeof result>[] = [];
      for await (const chunk of items) {
        noteDocuments([chunk.documentId]);
        found.push(viewResult(chunk, request));
      }
      return { results: found };
    },
  });

/** The facts that every search of a tool has, and the wishes that tools leave to the settings. */
export const searchOf = ({ caller: { principal }, baseUrl, startedAtMs, signal }: McpRequest) => ({
  principal,
  baseUrl,
  startedAtMs,
  signal,
  minScore: 0,
  ranking: undefined,
  rerank: null,
});

function viewResult(
  { documentId, chunkNumber, content: text, filename, metadata, location }: FoundChunk,
  { baseUrl }: McpRequest,
): z.infer<typeof result> {
  return {
    id: passageId(documentId, chunkNumber),
    title: titleOf({ filename, metadata, text, location }),
    url: viewUrlOf({ documentId, chunkNumber }, { baseUrl }),
    text,
  };
}
