import { PromptTooLongError } from '../../../shared/errors.js';
import { fitPrompt } from '../../../shared/models/prompt.js';
import type { Completer, CompletionEvent, Passage } from '../../../shared/ports.js';
import type { Hit } from '../../../shared/search/hit.js';
import type { Search } from '../../../shared/search/search.js';
import type { AccountedRequest, Accounting } from '../usage-accounting.js';
import type { AnswerMemory, Lease } from '../answer-memory/answer-memory.js';
import { heldSize } from '../answer-memory/memory-estimate.js';
import { searchMetadata, type RetrievalRequest } from './retrieval.js';
import { hitsWanted, searchWithinMemory } from './search-within-memory.js';

export interface QueryRequest extends RetrievalRequest {
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
}

/** A chunk that was in the prompt. */
export interface Source {
  readonly documentId: string;
  readonly chunkNumber: number;
  readonly score: number;
}

export interface QueryEnd {
  readonly finishReason: 'stop' | 'length';
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly sources: readonly Source[];
}

export type QueryEvent =
  { readonly type: 'token'; readonly text: string } | ({ readonly type: 'end' } & QueryEnd);

export interface Completion extends QueryEnd {
  readonly completion: string;
}

export interface CompletionService {
  complete(request: QueryRequest): Promise<Completion>;
  stream(request: QueryRequest): AsyncIterable<QueryEvent>;
}

interface Dependencies {
  readonly search: Search;
  readonly completer: Completer;
  readonly accounting: Accounting;
  readonly memory: AnswerMemory;
  readonly countTokens: (text: string) => number;
  readonly defaultMaxTokens: number;
}

/** Completes questions over the best chunks for each. */
export function createCompletions(parts: Dependencies): CompletionService {
  const { accounting } = parts;
  return {
    complete: (request) =>
      accounting.run(accounted(request), async () => {
        let completion = '';
        for await (const event of answer(parts, request)) {
          if (event.type === 'token') completion += event.text;
          else {
            const { type: _, ...end } = event;
            return { result: { completion, ...end }, tokens: tokensOf(end) };
          }
        }
        throw new Error('the stream of the completer ended without its last event');
      }),

    stream: (request) =>
      accounting.stream(accounted(request), answer(parts, request), (event) =>
        event.type === 'end' ? tokensOf(event) : null,
      ),
  };
}

function accounted(request: QueryRequest): AccountedRequest {
  const { callerId: userId, startedAtMs, signal } = request;
  return { operation: 'query', userId, startedAtMs, signal, metadata: searchMetadata(request) };
}

const tokensOf = ({ promptTokens, completionTokens }: QueryEnd) => promptTokens + completionTokens;

async function* answer(parts: Dependencies, request: QueryRequest): AsyncGenerator<QueryEvent> {
  const lease = await parts.memory.reserve(hitsWanted(request));
  try {
    const found = await findPassages(parts.search, request, lease);
    // The result does not matter: there was room for the hits, and the prompt is at most slightly larger than they are.
    lease.resize(heldSize(found.passages) + heldSize(found.sources));
    yield* completeFitting(parts, request, found);
  } finally {
    lease.release();
  }
}

interface FoundPassages {
  readonly passages: readonly Passage[];
  readonly sources: readonly Source[];
}

/** A model whose tokenizer makes more tokens than ours refuses a prompt that should fit: it gets a shorter one. */
const MAX_ATTEMPTS = 5;
const SHORTER = 0.75;

/** Completes over the passages that fit the window by the model's own count. */
async function* completeFitting(
  { completer, countTokens, defaultMaxTokens }: Dependencies,
  request: QueryRequest,
  { passages, sources }: FoundPassages,
): AsyncGenerator<QueryEvent> {
  const { callerId, temperature, signal } = request;
  const maxWanted = request.maxTokens ?? defaultMaxTokens;
  for (let [attempt, contextWindow] = [1, completer.contextWindow]; ; attempt += 1) {
    const whole = { question: request.query, passages };
    const { prompt, maxTokens } = await fitPrompt(whole, {
      contextWindow,
      maxTokens: maxWanted,
      countTokens,
    });
    const used = sources.slice(0, prompt.passages.length);
    try {
      for await (const event of completer.complete(prompt, { callerId, maxTokens, temperature, signal }))
        yield toQueryEvent(event, used);
      return;
    } catch (error) {
      // It is thrown before the first event.
      if (!(error instanceof PromptTooLongError) || attempt === MAX_ATTEMPTS) throw error;
      contextWindow = Math.floor(contextWindow * SHORTER);
    }
  }
}

function toQueryEvent(event: CompletionEvent, sources: readonly Source[]): QueryEvent {
  if (event.type === 'text') return { type: 'token', text: event.text };
  const { promptTokens, completionTokens, finishReason } = event;
  return { type: 'end', finishReason, promptTokens, completionTokens, sources };
}

/** Searches for passages. Chunks with a score of zero share nothing with the question and are left out. */
async function findPassages(search: Search, request: QueryRequest, lease: Lease): Promise<FoundPassages> {
  const found = await searchWithinMemory(search, { ...request, per: 'chunk' }, lease);
  const hits = found.filter(({ score }) => score > 0);
  return { passages: hits.map(toPassage), sources: hits.map(toSource) };
}

function toPassage({ record, number, content }: Hit): Passage {
  return { documentId: record.id, chunkNumber: number, text: content };
}

function toSource({ record, number, score }: Hit): Source {
  return { documentId: record.id, chunkNumber: number, score };
}
