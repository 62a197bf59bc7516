import { PromptTooLongError } from '../../../shared/errors.js';
import { fitEarlier, fitPrompt, shortenPrompt } from '../../../shared/models/prompt.js';
import type { FinishReason } from '../../../shared/models/finish-reason.js';
import type { Completer, CompletionEvent, EarlierMessage, Prompt } from '../../../shared/ports.js';
import { withRerank, type AccountedRequest, type Accounting } from '../usage-accounting.js';
import { heldSize, type AnswerMemory, type MemoryLease } from '../answer-memory/answer-memory.js';
import { findHits, hitsWanted, type FindHitsParts } from './find-hits.js';
import { held } from '../stream-end.js';
import { quoteSources, toPassage, toSource, type Source, type Sources } from './sources.js';
import { searchMetadata, type RetrievalRequest, type WithRerank } from './retrieval.js';

export interface QueryRequest extends RetrievalRequest {
  readonly query: string;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  /** The conversation that the question goes on with, oldest first. Only the question is searched for. */
  readonly earlier?: readonly EarlierMessage[];
  /** Called with the passages that the answer is made from, before its first word. */
  readonly onFound?: ((sources: readonly Source[]) => void) | undefined;
}

export interface QueryEnd extends Sources {
  readonly finishReason: FinishReason;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export type QueryEvent =
  { readonly type: 'token'; readonly text: string } | ({ readonly type: 'end' } & QueryEnd);

export interface Completion extends QueryEnd, WithRerank {
  readonly completion: string;
}

export interface CompletionStream extends WithRerank {
  readonly events: AsyncIterable<QueryEvent>;
}

export interface CompletionService {
  complete(request: QueryRequest): Promise<Completion>;
  /** The stream begins when reranking, where it was asked for, is over, so that the report of it can be sent first. */
  stream(request: QueryRequest): Promise<CompletionStream>;
}

interface Dependencies extends FindHitsParts {
  readonly completer: Completer;
  readonly accounting: Accounting;
  readonly memory: AnswerMemory;
  readonly countTokens: (text: string) => number;
  readonly defaultMaxTokens: number;
  /** Where words alone are compared: the way to find more than them. */
  readonly findMore: string | undefined;
}

/** Completes questions over the best chunks for each. */
export function createCompletions(parts: Dependencies): CompletionService {
  const { accounting } = parts;
  return {
    complete: async (request) => {
      const asked = accounted(request);
      const completion = await accounting.begin(asked, () => completeWhole(parts, request));
      const counted = withRerank(asked, tokensOf(completion), completion.rerank);
      await accounting.succeed(counted.request, counted.tokens);
      return completion;
    },

    stream: async (request) => {
      const asked = accounted(request);
      const tokensOfLast = (event: QueryEvent) => (event.type === 'end' ? tokensOf(event) : null);
      if (request.rerank === null)
        return { rerank: null, events: accounting.stream(asked, answer(parts, request), tokensOfLast) };
      const prepared = await accounting.begin(asked, () => prepare(parts, request));
      const { rerank } = prepared;
      const counted = withRerank(asked, 0, rerank);
      const events = accounting.stream(counted.request, completePrompt(parts, request, prepared), (event) => {
        const tokens = tokensOfLast(event);
        return tokens === null ? null : tokens + counted.tokens;
      });
      // A stream that nobody begins to read gives its memory back, too.
      return { rerank, events: held(events, prepared.lease) };
    },
  };
}

async function completeWhole(parts: Dependencies, request: QueryRequest): Promise<Completion> {
  const prepared = await prepare(parts, request);
  let completion = '';
  for await (const event of generate(parts, request, prepared)) {
    if (event.type === 'token') completion += event.text;
    else {
      const { type: _, ...end } = event;
      return { completion, rerank: prepared.rerank, ...end };
    }
  }
  throw new Error('the stream of the completer ended without its last event');
}

function accounted(request: QueryRequest): AccountedRequest {
  const { principal, startedAtMs, signal } = request;
  return { operation: 'query', userId: principal.id, startedAtMs, signal, metadata: searchMetadata(request) };
}

const tokensOf = ({ promptTokens, completionTokens }: QueryEnd) => promptTokens + completionTokens;

async function* answer(parts: Dependencies, request: QueryRequest): AsyncGenerator<QueryEvent> {
  yield* generate(parts, request, await prepare(parts, request));
}

interface Prepared extends WithRerank {
  readonly prompt: Prompt;
  readonly maxTokens: number;
  readonly sources: readonly Source[];
  /** For the memory that these take. */
  readonly lease: MemoryLease;
}

async function prepare(parts: Dependencies, request: QueryRequest): Promise<Prepared> {
  const lease = await parts.memory.reserve(hitsWanted(parts, { ...request, per: 'chunk' }));
  try {
    const found = await findPrompt(parts, request, lease);
    // The result does not matter: there was room for the hits, whose texts the prompt shares with the sources.
    lease.resize(heldSize([found.prompt.question, found.prompt.earlier]) + heldSize(found.sources));
    return { ...found, lease };
  } catch (error) {
    lease.release();
    throw error;
  }
}

/** Completes, and gives the memory back at the end. */
function generate(parts: Dependencies, request: QueryRequest, prepared: Prepared): AsyncIterable<QueryEvent> {
  return held(completePrompt(parts, request, prepared), prepared.lease);
}

async function* completePrompt(
  { completer, countTokens, findMore }: Dependencies,
  { principal: { id: callerId }, temperature, baseUrl, signal, onFound }: QueryRequest,
  { prompt: first, maxTokens: firstMaxTokens, sources }: Prepared,
): AsyncGenerator<QueryEvent> {
  let fitted = { prompt: first, maxTokens: firstMaxTokens };
  for (;;) {
    const { prompt, maxTokens } = fitted;
    try {
      const options = { callerId, maxTokens, temperature, findMore, signal };
      const used = sources.slice(0, prompt.passages.length);
      const events = completer.complete(prompt, options);
      yield* withSources(events, { sources: used, baseUrl, onFound });
      return;
    } catch (error) {
      // It is thrown before the first event.
      if (!(error instanceof PromptTooLongError)) throw error;
      fitted = await shortenPrompt(fitted, error, { contextWindow: completer.contextWindow, countTokens });
    }
  }
}

async function* withSources(
  events: AsyncIterable<CompletionEvent>,
  { sources, baseUrl, onFound }: Pick<Prepared, 'sources'> & Pick<QueryRequest, 'baseUrl' | 'onFound'>,
): AsyncGenerator<QueryEvent> {
  let text = '';
  let isTold = false;
  for await (const event of events) {
    // A model that refuses the prompt is asked with fewer passages.
    if (!isTold) onFound?.(sources);
    isTold = true;
    if (event.type === 'text') {
      text += event.text;
      yield { type: 'token', text: event.text };
    } else {
      const { promptTokens, completionTokens, finishReason, quotes } = event;
      const quoted = await quoteSources(sources, { text, quotes, baseUrl });
      yield { type: 'end', finishReason, promptTokens, completionTokens, ...quoted };
    }
  }
}

/** Searches, and makes a prompt of the passages that fit. The others are not held during the completion. */
async function findPrompt(parts: Dependencies, request: QueryRequest, lease: MemoryLease) {
  const { completer, countTokens, defaultMaxTokens } = parts;
  const { passages, sources, rerank } = await findPassages(parts, request, lease);
  const { prompt, maxTokens } = await fitPrompt(
    {
      question: request.query,
      passages,
      earlier: fitEarlier(request.earlier ?? [], completer.contextWindow),
    },
    {
      contextWindow: completer.contextWindow,
      maxTokens: request.maxTokens ?? defaultMaxTokens,
      countTokens,
    },
  );
  return { prompt, maxTokens, rerank, sources: sources.slice(0, prompt.passages.length) };
}

/** Searches for passages. Chunks with a score of zero share nothing with the question and are left out. */
async function findPassages(parts: Dependencies, request: QueryRequest, lease: MemoryLease) {
  const found = await findHits(parts, { ...request, per: 'chunk' }, lease);
  const hits = found.hits.filter(({ score }) => score > 0);
  const sources = hits.map(toSource);
  return { passages: sources.map(toPassage), sources, rerank: found.rerank };
}
