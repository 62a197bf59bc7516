import { z } from 'zod';
import { noteCache } from '../../../shared/audit/notes.js';
import { HttpError } from '../../http/http-error.js';
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
import { rerankHeaders } from '../../routes/retrieval-view.js';
import { SEARCH_BODY_BYTES, searchFields } from '../../routes/retrieval.js';
import type { CacheService } from '../../services/caches/caches.js';
import type { CacheQueryRequest } from '../../services/caches/cache-queries.js';
import type { CompletionService, QueryRequest } from '../../services/retrieval/completions.js';
import { withinScope, type Scope, type ScopeParts } from '../scope.js';
import { chatChunk, chatCompletion, viewChat, viewChatStream } from './chat-view.js';
import { messageContent, messageRole, requireConversation } from './conversation.js';
import { chatExamples } from './examples.js';
import { resolveModel, type ModelSubject } from './model-names.js';
import { onlyByDefault, withoutEffect } from './unsupported.js';

const MAX_MESSAGES = 1_000;
/** Conversations are longer than a question. */
export const CONVERSATION_BODY_BYTES = 4 * 1024 ** 2 + SEARCH_BODY_BYTES;
/** The longest completion; a client may ask for more, as the longest that its model would make. */
const MAX_TOKENS = 32_768;

export const completionLength = optionalNull(jsonInteger({ ge: 1 })).describe(
  `The longest answer, in tokens. More than ${String(MAX_TOKENS)} count as that many.`,
);
export const cutLength = (tokens: number | undefined): number | undefined =>
  tokens === undefined ? undefined : Math.min(tokens, MAX_TOKENS);

const message = z.object({
  role: messageRole,
  content: messageContent,
  name: withoutEffect,
  refusal: withoutEffect,
  annotations: withoutEffect,
  audio: withoutEffect,
  tool_calls: withoutEffect,
  tool_call_id: withoutEffect,
  function_call: withoutEffect,
  reasoning_content: withoutEffect,
});

const chatBody = z
  .object({
    model: nonBlankString({ max: 512 }).describe(
      '`quire` for all documents that you may read, `quire/own` for your own, `quire/cache/<name>` for a named cache.',
    ),
    messages: list(message, { min: 1, max: MAX_MESSAGES }).describe(
      'The question is the last message of the user, behind the one before it where it has at most 30 characters. The ' +
        'others, of the system too, are told to the model, as many as a quarter of its window holds.',
    ),
    stream: optionalNullOr(z.boolean(), false).describe('True for an answer as server-sent events.'),
    stream_options: optionalNull(
      z.object({ include_usage: optionalNull(z.boolean()), include_obfuscation: withoutEffect }),
    ).describe('With `include_usage`, the last event of a stream has the usage and no choice.'),
    max_tokens: completionLength,
    max_completion_tokens: completionLength,
    temperature: optionalNull(jsonFloat({ ge: 0, le: 2 })).describe(
      'How freely the model chooses its words.',
    ),
    ...searchFields,
    n: onlyByDefault((value) => value === 1, 'one choice is made, and not several'),
    response_format: onlyByDefault(isPlainText, 'answers are texts, and follow no schema'),
    tool_choice: onlyByDefault((value) => value === 'auto' || value === 'none', 'no tool is called here'),
    tools: withoutEffect,
    parallel_tool_calls: withoutEffect,
    functions: withoutEffect,
    function_call: withoutEffect,
    top_p: withoutEffect,
    frequency_penalty: withoutEffect,
    presence_penalty: withoutEffect,
    logit_bias: withoutEffect,
    logprobs: withoutEffect,
    top_logprobs: withoutEffect,
    seed: withoutEffect,
    stop: withoutEffect,
    user: withoutEffect,
    store: withoutEffect,
    metadata: withoutEffect,
    reasoning_effort: withoutEffect,
    verbosity: withoutEffect,
    service_tier: withoutEffect,
    modalities: withoutEffect,
    prediction: withoutEffect,
    audio: withoutEffect,
    web_search_options: withoutEffect,
    prompt_cache_key: withoutEffect,
    prompt_cache_retention: withoutEffect,
    safety_identifier: withoutEffect,
  })
  .meta({ id: 'ChatRequest', description: 'A conversation whose last question is to be answered.' });

function isPlainText(value: unknown): boolean {
  return z.object({ type: z.literal('text') }).safeParse(value).success;
}

export type ChatRequest = ApiRequest<unknown, unknown, z.output<typeof chatBody>>;

export interface AnswerServices extends ScopeParts {
  readonly completions: CompletionService;
  readonly caches: Pick<CacheService, 'query' | 'stream'>;
}

export const chatRoute = (services: AnswerServices): Route =>
  defineRoute({
    method: 'post',
    path: '/v1/chat/completions',
    tag: 'OpenAI',
    audit: 'document.query',
    permission: 'read',
    summary: 'Answer the last question of a conversation',
    description:
      'Answers from the passages that fit the question best, or from a named cache. Marks such as `[1]` are cited in ' +
      '`annotations`, and `sources` are those of `POST /query`, whose fields `filters`, `k`, `min_score`, `ranking`, ' +
      '`rerank`, `shared` and `collection` may be sent, too. Other fields of OpenAI are taken and have no effect, but for those that ask ' +
      'for what no answer here can be: several choices, a schema, or a certain tool. A stream ends with `data: [DONE]`.',
    maxBodyBytes: CONVERSATION_BODY_BYTES,
    request: { body: chatBody },
    responses: { 200: chatCompletion, 404: openAIError, 409: openAIError },
    events: chatChunk,
    examples: chatExamples,
    handle: async (request, reply) => {
      const { body, baseUrl, startedAtMs } = request;
      const subject = await resolveModel(services, body.model, request.caller.principal);
      if (subject.type === 'cache') requireNoScope(body);
      const asked = { model: body.model, baseUrl, startedAtMs, citesSources: subject.type !== 'cache' };
      if (body.stream) {
        const { events, headers } = await streamAnswer(services, subject, request);
        const includesUsage = body.stream_options?.include_usage === true;
        const chunks = viewChatStream(asked, events, { includesUsage });
        return reply.events(chunks, (chunk) => chunk, headers, { last: '[DONE]' });
      }
      const { answer, headers } = await wholeAnswer(services, subject, request);
      return reply.json(200, viewChat(asked, answer), headers);
    },
  });

/** A cache answers from all of its documents, so that what would narrow them is refused instead of ignored. @throws HttpError */
function requireNoScope({ filters, collection, shared }: ChatRequest['body']): void {
  const narrowing = { filters: filters.filter ?? undefined, collection, shared };
  for (const [field, value] of Object.entries(narrowing))
    if (value !== undefined) {
      const msg = 'a cache answers from all of its documents';
      throw new HttpError(422, [{ loc: ['body', field], msg, type: 'value_error' }]);
    }
}

async function wholeAnswer(
  { completions, caches }: AnswerServices,
  subject: ModelSubject,
  request: ChatRequest,
) {
  if (subject.type === 'cache') {
    noteCache(subject.name);
    return { answer: await caches.query(toCacheQuery(subject.name, request)), headers: {} };
  }
  const answer = await completions.complete(toQuery(subject.scope, request));
  return { answer, headers: rerankHeaders(answer.rerank) };
}

async function streamAnswer(
  { completions, caches }: AnswerServices,
  subject: ModelSubject,
  request: ChatRequest,
) {
  const signal = request.whileValid();
  if (subject.type === 'cache') {
    noteCache(subject.name);
    return { events: caches.stream({ ...toCacheQuery(subject.name, request), signal }), headers: {} };
  }
  const { events, rerank } = await completions.stream({ ...toQuery(subject.scope, request), signal });
  return { events, headers: rerankHeaders(rerank) };
}

function toQuery(scope: Scope, { body, caller, baseUrl, startedAtMs, signal }: ChatRequest): QueryRequest {
  const { filters, k, min_score: minScore, ranking, rerank, shared, collection } = body;
  const { question: query, earlier } = conversationOf(body);
  return {
    principal: caller.principal,
    baseUrl,
    startedAtMs,
    signal,
    query,
    earlier,
    ...withinScope(scope, { filter: filters.filter, shared }),
    collection,
    k,
    minScore,
    ranking,
    rerank,
    ...lengthAndTemperature(body),
  };
}

function toCacheQuery(
  name: string,
  { body, caller, baseUrl, startedAtMs, signal }: ChatRequest,
): CacheQueryRequest {
  const { question: query, earlier } = conversationOf(body);
  const asker = { ownerId: caller.id, principal: caller.principal, baseUrl, startedAtMs, signal };
  return { ...asker, name, query, earlier, ...lengthAndTemperature(body) };
}

const conversationOf = ({ messages }: ChatRequest['body']) =>
  requireConversation(
    messages.map(({ role, content: text }) => ({ role, text })),
    'messages',
  );

const lengthAndTemperature = (body: ChatRequest['body']) => ({
  maxTokens: cutLength(body.max_completion_tokens ?? body.max_tokens),
  temperature: body.temperature,
});
