import { z } from 'zod';
import { MAX_FILTER_BYTES } from '../../shared/filters/parse-state.js';
import { RANKINGS } from '../../shared/search/ranking.js';
import { bodyFilters } from '../http/validation/filters.js';
import {
  jsonFloat,
  jsonInteger,
  nonBlankString,
  optionalNull,
  optionalNullOr,
} from '../http/validation/field-schemas.js';
import { defineRoute, type ApiRequest, type Route } from '../http/route.js';
import type { QueryService } from '../services/retrieval/query.js';
import type { Retrieval, RetrievalRequest } from '../services/retrieval/retrieval.js';
import {
  chunkResult,
  completion,
  completionEvent,
  documentResult,
  viewChunk,
  viewCompletion,
  viewEvent,
  viewFoundDocument,
} from './retrieval-view.js';

export const MAX_QUERY_CHARACTERS = 32_768;
/** A query whose every character is written as two escapes of six bytes, and room for the other fields. */
export const QUERY_BODY_BYTES = 12 * MAX_QUERY_CHARACTERS + 64 * 1024;
/** And the largest filter, each byte of it written as an escape of six. */
const SEARCH_BODY_BYTES = QUERY_BODY_BYTES + 6 * MAX_FILTER_BYTES;

const RANKING_DESCRIPTION =
  'What the score is: `semantic`, the cosine similarity of query and chunk, clamped to 0 and above; `lexical`, the share ' +
  "of the query's informative weight whose words the chunk holds (normalised BM25); `hybrid`, a weighted sum of both. " +
  '`lexical` and `hybrid` find chunks by the words that they hold, too. Unless given, the setting `search.ranking` decides.';

const search = {
  query: nonBlankString({ max: MAX_QUERY_CHARACTERS }),
  filters: bodyFilters,
  k: optionalNullOr(jsonInteger({ ge: 1, le: 1000 }), 4),
  min_score: optionalNullOr(jsonFloat({ ge: 0, le: 1 }), 0).describe(
    'Least `score`, of whatever `ranking`, that is returned.',
  ),
  ranking: optionalNull(z.enum(RANKINGS)).describe(RANKING_DESCRIPTION),
};
const searchBody = z.object(search);

export const completionOptions = {
  max_tokens: optionalNull(jsonInteger({ ge: 1, le: 32_768 })),
  temperature: optionalNull(jsonFloat({ ge: 0, le: 2 })),
};
const queryBody = z.object({ ...search, ...completionOptions, stream: optionalNullOr(z.boolean(), false) });

function toRequest(request: ApiRequest<unknown, unknown, z.infer<typeof searchBody>>): RetrievalRequest {
  const { body, caller, baseUrl, startedAtMs, signal } = request;
  const { query, filters, k, min_score: minScore, ranking } = body;
  const asked = { query, filter: filters.filter, k, minScore, ranking };
  return { callerId: caller.id, baseUrl, startedAtMs, signal, ...asked };
}

export function createRetrievalRoutes({
  retrieval,
  query,
}: {
  retrieval: Retrieval;
  query: QueryService;
}): Route[] {
  const common = {
    method: 'post',
    tag: 'Retrieval',
    permission: 'read',
    maxBodyBytes: SEARCH_BODY_BYTES,
  } as const;
  return [
    defineRoute({
      ...common,
      path: '/retrieve/chunks',
      summary: 'The chunks that fit a query best',
      request: { body: searchBody },
      responses: { 200: z.array(chunkResult) },
      handle: async (request, reply) => reply.items(await retrieval.chunks(toRequest(request)), viewChunk),
    }),
    defineRoute({
      ...common,
      path: '/retrieve/docs',
      summary: 'The documents that fit a query best, each by its best chunk',
      request: { body: searchBody },
      responses: { 200: z.array(documentResult) },
      handle: async (request, reply) =>
        reply.items(await retrieval.documents(toRequest(request)), viewFoundDocument),
    }),
    defineRoute({
      ...common,
      path: '/query',
      summary: 'A completion over the chunks that fit a query best',
      request: { body: queryBody },
      responses: { 200: completion },
      events: completionEvent,
      handle: async (request, reply) => {
        const { max_tokens: maxTokens, temperature, stream } = request.body;
        const asked = { ...toRequest(request), maxTokens, temperature };
        if (stream) return reply.events(query.stream(asked), viewEvent);
        return reply.json(200, viewCompletion(await query.complete(asked)));
      },
    }),
  ];
}
