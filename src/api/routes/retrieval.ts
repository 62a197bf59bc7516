import { z } from 'zod';
import { MAX_FILTER_BYTES } from '../../shared/filters/parse.js';
import { collectionField, sharedField, rerankWish, bodyFilters } from '../http/validation/search-fields.js';
import { RANKINGS } from '../../shared/search/ranking.js';
import {
  jsonFloat,
  jsonInteger,
  nonBlankString,
  optionalNull,
  optionalNullOr,
} from '../http/validation/field-schemas.js';
import { MESSAGES } from '../http/validation/validation-errors.js';
import { errorBody } from '../http/response/declared-responses.js';
import { defineRoute, type ApiRequest, type Route } from '../http/route.js';
import type { CompletionService } from '../services/retrieval/completions.js';
import type { ExplainDocument } from '../services/retrieval/explain-document.js';
import type { Retrieval, RetrievalRequest } from '../services/retrieval/retrieval.js';
import {
  explainExamples,
  queryExamples,
  retrieveChunksExamples,
  retrieveDocumentsExamples,
} from './examples/retrieval.js';
import {
  chunkResult,
  completion,
  completionEvent,
  documentResult,
  viewChunk,
  viewCompletion,
  viewEvent,
  rerankHeaders,
  searchHeaders,
  viewFoundDocument,
} from './retrieval-view.js';
import {
  checkWidened,
  contextField,
  documentExplanation,
  explainField,
  highlightField,
  toContext,
  viewDocumentExplanation,
} from './retrieval-details.js';

export const MAX_QUERY_CHARACTERS = 32_768;
/** Room for a query whose every character is written as two escapes of six bytes, and for the other fields. */
export const QUERY_BODY_BYTES = 12 * MAX_QUERY_CHARACTERS + 64 * 1024;
/** The same, and room for the largest filter with each of its bytes written as an escape of six. */
export const SEARCH_BODY_BYTES = QUERY_BODY_BYTES + 6 * MAX_FILTER_BYTES;

const RANKING_DESCRIPTION =
  'How the score is computed. `semantic` is the cosine similarity of query and chunk, or 0 where that is negative. ' +
  "`lexical` is the share of the query's informative weight that words cover (normalised BM25): the mean of what the " +
  'chunk covers by itself and what it covers together with the chunks around it. ' +
  '`hybrid` is a weighted sum of both, whose weights follow from the query and its candidates. `lexical` and `hybrid` ' +
  'also find chunks by their words alone. Without a `ranking`, the setting `search.ranking` decides.';

/** The fields of every search, beside its query. */
export const searchFields = {
  filters: bodyFilters,
  k: optionalNullOr(jsonInteger({ ge: 1, le: 1000 }), 4).describe('How many results are returned at most.'),
  min_score: optionalNullOr(jsonFloat({ ge: 0, le: 1 }), 0).describe(
    'Results with a lower `score` are left out, whatever the `ranking`. In scores by words, ' +
      'the chunks around a chunk count as much as the chunk itself: where they say little of what is asked, it scores lower.',
  ),
  ranking: optionalNull(z.enum(RANKINGS)).describe(RANKING_DESCRIPTION),
  rerank: rerankWish,
  shared: sharedField,
  collection: collectionField,
};
const search = {
  query: nonBlankString({ max: MAX_QUERY_CHARACTERS }).describe('A question, or the words to look for.'),
  ...searchFields,
};
const searchOrList = {
  ...search,
  query: search.query
    .nullish()
    .describe(
      'A question, or the words to look for. Without it, `filters` or a `collection` alone say which documents are found: the newest first.',
    ),
  highlight: highlightField,
  explain: explainField,
};

/** Issues of a rule between fields are found beside those of other fields, unless body or filter themselves are refused. */
const ofQuery = (path: string, message: string, type: string) => ({
  path: [path],
  message,
  params: { item: { type } },
  when: ({ issues }: { readonly issues: readonly { readonly path?: PropertyKey[] | undefined }[] }) =>
    !issues.some(({ path: [field] = [] }) => [undefined, 'filters', path].some((each) => each === field)),
});

type SearchOrList = Partial<z.infer<z.ZodObject<typeof searchOrList>>> & { readonly context?: unknown };

/** The fields that say something only of a query, with what each is when nothing is asked for. */
const OF_QUERIES = { ranking: undefined, rerank: null, highlight: false, explain: false, context: undefined };

const isOfQuery = (field: string): field is keyof typeof OF_QUERIES => Object.hasOwn(OF_QUERIES, field);

/** Holds the rules of a search that may lack its query. */
const withQueryRules = <Schema extends z.ZodType<SearchOrList>>(schema: Schema): Schema =>
  Object.keys(OF_QUERIES)
    .filter(isOfQuery)
    .reduce(
      (ruled, field) =>
        ruled.refine(
          ({ query = null, ...fields }) =>
            query !== null || (fields[field] ?? OF_QUERIES[field]) === OF_QUERIES[field],
          ofQuery(field, `${field} needs a query`, 'value_error'),
        ),
      schema
        .refine(
          ({ query, filters, collection }) =>
            query !== undefined || filters?.filter != null || collection !== undefined,
          ofQuery('query', MESSAGES.missing, 'value_error.missing'),
        )
        .refine(
          ({ query, filters, collection }) =>
            query !== null || filters?.filter != null || collection !== undefined,
          ofQuery('query', MESSAGES.none, 'type_error.none.not_allowed'),
        ),
    );

const documentsBody = withQueryRules(
  z
    .object(searchOrList)
    .meta({ id: 'DocumentSearch', description: 'A question, and which documents may answer it.' }),
);
const searchBody = withQueryRules(
  z
    .object({ ...searchOrList, context: contextField })
    .check(checkWidened)
    .meta({
      id: 'Search',
      description: 'A question, which documents may answer it, and what is told of hits.',
    }),
);

export const completionOptions = {
  max_tokens: optionalNull(jsonInteger({ ge: 1, le: 32_768 })).describe('The longest answer, in tokens.'),
  temperature: optionalNull(jsonFloat({ ge: 0, le: 2 })).describe('How freely the model chooses its words.'),
};
const queryBody = z
  .object({
    ...search,
    context: contextField,
    ...completionOptions,
    stream: optionalNullOr(z.boolean(), false).describe('True for an answer as server-sent events.'),
  })
  .check(checkWidened)
  .meta({ id: 'Query', description: 'A question, which documents may answer it, and how.' });

type SearchFields = Omit<z.infer<typeof searchBody>, 'context' | 'highlight' | 'explain' | 'rerank'> &
  Partial<Pick<z.infer<z.ZodObject<typeof search>>, 'rerank'>> &
  Partial<Pick<z.infer<typeof searchBody>, 'context' | 'highlight' | 'explain'>>;

function toRequest(request: ApiRequest<unknown, unknown, SearchFields>): RetrievalRequest {
  const { body, caller, baseUrl, startedAtMs, signal } = request;
  const { query = null, filters, k, min_score: minScore, ranking, rerank = null, shared, collection } = body;
  const details = { context: toContext(body.context), highlight: body.highlight, explain: body.explain };
  const searched = { query, filter: filters.filter, k, minScore, ranking, rerank, shared, collection };
  const asked = { ...searched, ...details };
  return { principal: caller.principal, baseUrl, startedAtMs, signal, ...asked };
}

const explainBody = z
  .object({
    query: search.query,
    document_id: z
      .string()
      .describe('The document of which is to be known why it is in the answer, or why not.'),
    filters: search.filters,
    k: search.k,
    min_score: search.min_score,
    ranking: search.ranking,
    shared: search.shared,
    collection: search.collection,
    per: optionalNullOr(z.enum(['chunk', 'document']), 'chunk').describe(
      '`chunk` for an answer of `/retrieve/chunks`, `document` for one of `/retrieve/docs`.',
    ),
  })
  .meta({ id: 'ExplainSearch', description: 'A search, and a document that was expected in its answer.' });

interface RetrievalRouteDependencies {
  readonly explainDocument: ExplainDocument;
  readonly retrieval: Retrieval;
  readonly completions: CompletionService;
}

export function createRetrievalRoutes(parts: RetrievalRouteDependencies): Route[] {
  const { retrieval, explainDocument, completions } = parts;
  return [
    chunksRoute(retrieval),
    documentsRoute(retrieval),
    explainRoute(explainDocument),
    queryRoute(completions),
  ];
}

const common = {
  method: 'post',
  permission: 'read',
  maxBodyBytes: SEARCH_BODY_BYTES,
} as const;

const chunksRoute = (retrieval: Retrieval) =>
  defineRoute({
    ...common,
    tag: 'Search',
    path: '/retrieve/chunks',
    audit: 'document.search',
    summary: 'Find the chunks that fit a query best',
    description:
      'Returns at most `k` chunks, best first, of documents that the caller may read. Without a `query`, these are the chunks ' +
      'of the newest documents that match `filters`, in the order of their texts, each with the score 1.',
    request: { body: searchBody },
    responses: { 200: z.array(chunkResult), 400: errorBody, 404: errorBody },
    examples: retrieveChunksExamples,
    handle: async (request, reply) => {
      const found = await retrieval.chunks(toRequest(request));
      const headers = searchHeaders(found);
      if (found.type === 'stream') return reply.items(found.items, viewChunk, headers);
      return reply.json(200, found.items.map(viewChunk), headers);
    },
  });

const documentsRoute = (retrieval: Retrieval) =>
  defineRoute({
    ...common,
    tag: 'Search',
    path: '/retrieve/docs',
    audit: 'document.search',
    summary: 'Find the documents that fit a query best',
    description:
      'Returns at most `k` documents, best first, each with the score of its best chunk. Without a `query`, these are the ' +
      'newest documents that match `filters`, each with the score 1.',
    request: { body: documentsBody },
    responses: { 200: z.array(documentResult), 400: errorBody, 404: errorBody },
    examples: retrieveDocumentsExamples,
    handle: async (request, reply) => {
      const found = await retrieval.documents(toRequest(request));
      return reply.items(found.items, viewFoundDocument, searchHeaders(found));
    },
  });

const explainRoute = (explainDocument: ExplainDocument) =>
  defineRoute({
    ...common,
    tag: 'Search',
    path: '/retrieve/explain',
    audit: 'document.search',
    summary: 'Explain why a document is in the answer to a search, or why not',
    description:
      'Answers by the search itself: that the document is found, and with which rank and score; that it is not published; ' +
      'that it is not in the collection, or which conditions of the filter it does not fulfil; that it shares no word with ' +
      'the query, scores less than `min_score`, or comes after `k` others. A document that the caller may not read is a 404, ' +
      'like an unknown one.',
    request: { body: explainBody },
    responses: { 200: documentExplanation, 404: errorBody },
    examples: explainExamples,
    handle: async (request, reply) => {
      const { query, document_id: documentId, per, filters } = request.body;
      const asked = { ...toRequest(request), query, documentId, per, filterJson: filters.json };
      return reply.json(200, viewDocumentExplanation(await explainDocument(asked), asked));
    },
  });

const queryRoute = (completions: CompletionService) =>
  defineRoute({
    ...common,
    tag: 'Ask',
    path: '/query',
    audit: 'document.query',
    summary: 'Answer a question',
    description:
      'Completes over the chunks that fit the query best, and names them as its sources. With `stream`, the answer ' +
      'comes as server-sent events: one for each piece of text, then one with the usage and the sources. An answer that ' +
      'fails after its first event, or outlives the token, ends with an event of the type `error`.',
    request: { body: queryBody },
    responses: { 200: completion, 400: errorBody, 404: errorBody },
    examples: queryExamples,
    events: completionEvent,
    handle: async (request, reply) => {
      const { max_tokens: maxTokens, temperature, stream } = request.body;
      const asked = { ...toRequest(request), query: request.body.query, maxTokens, temperature };
      if (stream) {
        const { events, rerank } = await completions.stream({ ...asked, signal: request.whileValid() });
        return reply.events(events, viewEvent, rerankHeaders(rerank));
      }
      const answer = await completions.complete(asked);
      return reply.json(200, viewCompletion(answer), rerankHeaders(answer.rerank));
    },
  });
