import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { toWellFormed } from '../../../shared/json-values.js';
import { HttpError } from '../../http/http-error.js';
import { cohereError } from '../../http/response/error-shapes.js';
import { defineRoute, type Route } from '../../http/route.js';
import { jsonInteger, list, nonBlankString, optionalNull } from '../../http/validation/field-schemas.js';
import { MAX_QUERY_CHARACTERS } from '../../routes/retrieval.js';
import type { RerankTexts } from '../../services/models/rerank-texts.js';

const MAX_DOCUMENTS = 1_000;
const MAX_ALL_CHARACTERS = 2_000_000;
/** Room for texts whose every character is an escape of six bytes would be more than the service takes; few are. */
const BODY_BYTES = 3 * MAX_ALL_CHARACTERS + 12 * MAX_QUERY_CHARACTERS + 64 * 1024;

const rerankBody = z
  .object({
    model: optionalNull(z.string()).describe('Any name: the reranker of the service scores.'),
    query: nonBlankString({ max: MAX_QUERY_CHARACTERS }),
    documents: list(z.string(), { min: 1, max: MAX_DOCUMENTS }).describe('Texts, not ids of documents.'),
    top_n: optionalNull(jsonInteger({ ge: 1 })).describe('How many results are returned at most.'),
    max_tokens_per_doc: optionalNull(jsonInteger({ ge: 1 })).describe(
      'Taken from clients of Cohere, and without effect.',
    ),
    priority: optionalNull(jsonInteger()).describe('Taken from clients of Cohere, and without effect.'),
  })
  .meta({
    id: 'RerankRequest',
    description: 'Texts that are to be ordered by how well they answer a query.',
  });

const rerankView = z
  .object({
    id: z.string(),
    results: z.array(z.object({ index: z.int().min(0), relevance_score: z.number().min(0).max(1) })),
    meta: z.object({
      api_version: z.object({ version: z.literal('2') }),
      billed_units: z.object({ search_units: z.int() }),
    }),
  })
  .meta({ id: 'RerankResult', description: 'The texts that answer best, best first, by their numbers.' });

const results = [
  { index: 1, relevance_score: 0.9 },
  { index: 0, relevance_score: 0.1 },
];
const meta = { api_version: { version: '2' as const }, billed_units: { search_units: 1 } };
const rerankExamples = {
  body: {
    model: 'rerank-v3.5',
    query: 'How much is the rent?',
    documents: ['Four keys were handed over.', 'The rent is 1,800 euros a month.'],
    top_n: 2,
  },
  responses: {
    200: { id: '1f0c6a529f0f4a3e8a540a3b2f7f2b11', results, meta },
    400: { message: 'The reranking provider refuses these texts' },
    404: { message: 'There is no reranker: the setting `reranker` of the service is "none"' },
  },
};

export const rerankRoute = (rerankTexts: RerankTexts): Route =>
  defineRoute({
    method: 'post',
    path: '/v2/rerank',
    tag: 'Other protocols',
    audit: 'model.rerank',
    permission: 'read',
    summary: 'Order texts by how well they answer a query',
    description:
      'As clients of Cohere ask for it. The reranker of the service scores (404 where there is none), and nothing is stored. ' +
      `All texts have at most ${MAX_ALL_CHARACTERS.toLocaleString('en')} characters together.`,
    maxBodyBytes: BODY_BYTES,
    request: { body: rerankBody },
    responses: { 200: rerankView, 400: cohereError, 404: cohereError },
    examples: rerankExamples,
    handle: async ({ body, caller, startedAtMs, signal }, reply) => {
      const { query, top_n: topN, documents: texts } = body;
      if (texts.reduce((sum, { length }) => sum + length, 0) > MAX_ALL_CHARACTERS) throw tooMuchText();
      const documents = texts.map(toWellFormed);
      const asked = { principal: caller.principal, startedAtMs, signal, query, documents };
      const { scores } = await rerankTexts(asked);
      const ordered = scores
        .map((score, index) => ({ index, relevance_score: score }))
        .sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index);
      return reply.json(200, { id: randomUUID().replaceAll('-', ''), results: ordered.slice(0, topN), meta });
    },
  });

function tooMuchText(): HttpError {
  const msg = `ensure all texts together have at most ${String(MAX_ALL_CHARACTERS)} UTF-16 units`;
  return new HttpError(422, [{ loc: ['body', 'documents'], msg, type: 'value_error' }]);
}
