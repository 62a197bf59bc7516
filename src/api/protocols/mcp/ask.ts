import { z } from 'zod';
import { noteDocuments } from '../../../shared/audit/notes.js';
import { collectionField } from '../../http/validation/search-fields.js';
import { completionOptions } from '../../routes/retrieval.js';
import type { CompletionService } from '../../services/retrieval/completions.js';
import { viewUrlOf, type QuotedSource } from '../../services/retrieval/sources.js';
import { passageId, titleOf } from './passages.js';
import { filters, question, results, searchOf } from './search.js';
import { defineTool, type McpRequest } from './tool.js';

const source = z.object({
  id: z.string().describe('The id to fetch the passage with what stands around it.'),
  title: z.string(),
  url: z.string().describe('The address to cite, at which the first quote is marked.'),
  quotes: z
    .array(z.object({ text: z.string(), page: z.int().optional() }))
    .describe('The sentences that the answer was made from, word by word.'),
});

export const createAskTool = (completions: CompletionService) =>
  defineTool({
    name: 'ask',
    title: 'Ask the documents',
    description:
      'Answers a question from the documents in Quire, with the sentences that prove the answer. Quire answers with its ' +
      'own model, or with the best sentences where it has none: to read and judge the passages yourself, search.',
    permission: 'read',
    action: 'document.query',
    input: z.object({
      question: question.describe('The question.'),
      filters,
      collection: collectionField,
      k: results.describe('From how many passages the answer is made at most.'),
      max_tokens: completionOptions.max_tokens,
    }),
    output: z.object({
      answer: z.string(),
      finish_reason: z.string().describe('Why the answer ended: `stop`, or `length` where it is cut off.'),
      sources: z.array(source),
      unsupported: z.array(z.string()).describe('Sentences of the answer that no source supports.'),
    }),
    run: async ({ question: query, filters: { filter }, collection, k, max_tokens: maxTokens }, request) => {
      const asked = { ...searchOf(request), query, filter, collection, k, maxTokens };
      const { completion, finishReason, sources, unsupported } = await completions.complete(asked);
      noteDocuments(sources.map(({ documentId }) => documentId));
      return {
        answer: completion,
        finish_reason: finishReason,
        sources: sources.map((each) => viewSource(each, request)),
        unsupported: [...unsupported],
      };
    },
  });

function viewSource(
  { documentId, chunkNumber, filename, title, text, location, quotes }: QuotedSource,
  { baseUrl }: McpRequest,
): z.infer<typeof source> {
  const place = { documentId, chunkNumber };
  return {
    id: passageId(documentId, chunkNumber),
    title: titleOf({ filename: filename ?? title, metadata: {}, text, location }),
    url: viewUrlOf(place, { baseUrl, quote: quotes[0] }),
    quotes: quotes.map(({ text: quoted, page }) => ({ text: quoted, ...(page !== undefined && { page }) })),
  };
}
