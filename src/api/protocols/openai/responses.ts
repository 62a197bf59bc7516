import { z } from 'zod';
import { noteDocuments } from '../../../shared/audit/notes.js';
import { NotFoundError } from '../../../shared/errors.js';
import { openAIError } from '../../http/response/error-shapes.js';
import { defineRoute, type ApiRequest, type Route } from '../../http/route.js';
import {
  jsonFloat,
  jsonInteger,
  list,
  nonBlankString,
  optionalNull,
  optionalNullOr,
} from '../../http/validation/field-schemas.js';
import { bodyFilters, sharedField } from '../../http/validation/search-fields.js';
import type { CompletionService, QueryRequest } from '../../services/retrieval/completions.js';
import type { Source } from '../../services/retrieval/sources.js';
import { anyScope, findScope, withinScope, type Scope, type ScopeParts } from '../scope.js';
import { completionLength, CONVERSATION_BODY_BYTES, cutLength } from './chat.js';
import { messageContent, messageRole, requireConversation } from './conversation.js';
import { responseExamples } from './examples.js';
import { resolveModel, unknownModel } from './model-names.js';
import {
  responseEvent,
  responseView,
  viewResponse,
  viewResponseStream,
  type AskedResponse,
} from './response-view.js';
import { onlyByDefault, withoutEffect } from './unsupported.js';

const MAX_ITEMS = 1_000;
const DEFAULT_RESULTS = 10;
const MAX_RESULTS = 50;

const inputItem = z.object({
  role: messageRole,
  content: messageContent,
  type: onlyByDefault((value) => value === 'message', 'only messages are read here'),
  id: withoutEffect,
  status: withoutEffect,
  phase: withoutEffect,
});

const fileSearch = z.object({
  type: z.literal('file_search'),
  vector_store_ids: list(z.string(), { max: 10 }).describe(
    '`all` for all documents that you may read, `own` for your own.',
  ),
  max_num_results: optionalNull(jsonInteger({ ge: 1, le: MAX_RESULTS })).describe(
    `How many passages answer at most; ${String(DEFAULT_RESULTS)} without it.`,
  ),
  ranking_options: optionalNull(
    z.object({ score_threshold: optionalNull(jsonFloat({ ge: 0, le: 1 })), ranker: withoutEffect }),
  ),
  filters: onlyByDefault(() => false, 'send `filters` of Quire beside `tools`'),
});

const responseBody = z
  .object({
    model: nonBlankString({ max: 512 }).describe('`quire`, or `quire/own` for your own documents.'),
    input: z
      .union([z.string(), list(inputItem, { min: 1, max: MAX_ITEMS })])
      .describe('A question, or a conversation, which is read as that of a chat.'),
    instructions: optionalNull(z.string()),
    tools: optionalNull(list(fileSearch, { max: 1 })).describe(
      'The search in documents, which is made without being named, too.',
    ),
    include: optionalNull(list(z.string(), { max: 20 })).describe(
      'With `file_search_call.results`, the passages that were found are told.',
    ),
    stream: optionalNullOr(z.boolean(), false).describe('True for an answer as server-sent events.'),
    max_output_tokens: completionLength,
    temperature: optionalNull(jsonFloat({ ge: 0, le: 2 })),
    filters: bodyFilters,
    shared: sharedField,
    previous_response_id: onlyByDefault(
      () => false,
      'no response is stored: send the conversation as `input`',
    ),
    conversation: onlyByDefault(() => false, 'no conversation is stored: send it as `input`'),
    background: onlyByDefault((value) => value === false, 'no response is stored'),
    text: onlyByDefault(isPlainText, 'answers are texts, and follow no schema'),
    tool_choice: onlyByDefault(isSearch, 'no other tool than the search is called here'),
    store: withoutEffect,
    metadata: withoutEffect,
    user: withoutEffect,
    top_p: withoutEffect,
    truncation: withoutEffect,
    reasoning: withoutEffect,
    parallel_tool_calls: withoutEffect,
    max_tool_calls: withoutEffect,
    service_tier: withoutEffect,
    stream_options: withoutEffect,
    top_logprobs: withoutEffect,
    safety_identifier: withoutEffect,
    prompt_cache_key: withoutEffect,
  })
  .meta({ id: 'ResponseRequest', description: 'A question to be answered from documents.' });

const plainText = z.object({ format: z.object({ type: z.literal('text') }).nullish() });
function isPlainText(value: unknown): boolean {
  return plainText.safeParse(value).success;
}
const searchChoice = z.union([z.enum(['auto', 'required']), z.object({ type: z.literal('file_search') })]);
function isSearch(value: unknown): boolean {
  return searchChoice.safeParse(value).success;
}

interface ResponseServices extends ScopeParts {
  readonly completions: CompletionService;
}

type ResponseRequest = ApiRequest<unknown, unknown, z.output<typeof responseBody>>;

export const responsesRoute = (services: ResponseServices): Route =>
  defineRoute({
    method: 'post',
    path: '/v1/responses',
    tag: 'OpenAI',
    audit: 'document.query',
    permission: 'read',
    summary: 'Answer a question from documents, with the search as a step',
    description:
      'Marks such as `[1]` are cited in `annotations`. The answer is never stored, so that the conversation is sent each time. ' +
      'Other fields of OpenAI are taken and have no effect, but for those that ask for what no answer here can be.',
    maxBodyBytes: CONVERSATION_BODY_BYTES,
    request: { body: responseBody },
    responses: { 200: responseView, 404: openAIError },
    events: responseEvent,
    examples: responseExamples,
    handle: async (request, reply) => {
      const scope = await scopeOf(services, request);
      let found: readonly Source[] = [];
      const onFound = (sources: readonly Source[]) => {
        found = sources;
        noteDocuments(sources.map(({ documentId }) => documentId));
      };
      const query = { ...toQuery(scope, request), onFound };
      const asked = toAsked(query.query, request);
      if (!request.body.stream)
        return reply.json(200, viewResponse(asked, await services.completions.complete(query)));
      const { events } = await services.completions.stream({ ...query, signal: request.whileValid() });
      return reply.events(
        viewResponseStream(asked, events, () => found),
        (event) => event,
        {},
        { areNamed: true },
      );
    },
  });

/** The documents of the model, within those of the stores that the search names. @throws HttpError 404, NotFoundError */
async function scopeOf(
  parts: ScopeParts,
  { body: { model, tools, filters, shared }, caller: { principal } }: ResponseRequest,
): Promise<Scope> {
  const subject = await resolveModel(parts, model, principal);
  if (subject.type === 'cache') throw unknownModel(model, 'a cache answers POST /v1/chat/completions');
  const asked = withinScope(subject.scope, { filter: filters.filter, shared });
  const stores: Scope[] = [];
  for (const id of tools?.[0]?.vector_store_ids ?? []) {
    const store = await findScope(parts, id, principal);
    if (!store) throw new NotFoundError(`Vector store '${id.slice(0, 64)}' not found`);
    stores.push(store);
  }
  return stores.length === 0 ? asked : withinScope(asked, anyScope(stores));
}

function toQuery(
  scope: Scope,
  { body, caller, baseUrl, startedAtMs, signal }: ResponseRequest,
): QueryRequest {
  const { input, instructions, tools, max_output_tokens: maxTokens, temperature } = body;
  const said = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : input;
  const messages = said.map(({ role, content: text }) => ({ role, text }));
  const told = instructions === undefined ? [] : [{ role: 'system' as const, text: instructions }];
  const { question: query, earlier } = requireConversation([...told, ...messages], 'input');
  const search = tools?.[0];
  return {
    principal: caller.principal,
    baseUrl,
    startedAtMs,
    signal,
    query,
    earlier,
    ...scope,
    k: search?.max_num_results ?? DEFAULT_RESULTS,
    minScore: search?.ranking_options?.score_threshold ?? 0,
    ranking: undefined,
    rerank: null,
    maxTokens: cutLength(maxTokens),
    temperature,
  };
}

const toAsked = (query: string, { body, startedAtMs }: ResponseRequest): AskedResponse => ({
  model: body.model,
  startedAtMs,
  query,
  instructions: body.instructions ?? null,
  maxOutputTokens: body.max_output_tokens ?? null,
  temperature: body.temperature ?? null,
  stores: body.tools?.[0]?.vector_store_ids ?? [],
  includesResults: body.include?.includes('file_search_call.results') ?? false,
});
