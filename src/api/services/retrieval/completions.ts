import { fitPrompt } from '../../../shared/models/prompt.js';
import type { Completer, Passage } from '../../../shared/ports.js';
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
  const { completer, memory } = parts;
  const lease = await memory.reserve(hitsWanted(request));
  try {
    const { prompt, maxTokens, sources } = await findPrompt(parts, request, lease);
    // The result does not matter: there was room for the hits, and the prompt is at most slightly larger than they are.
    lease.resize(heldSize(prompt) + heldSize(sources));
    const { callerId, temperature, signal } = request;
    const options = { callerId, maxTokens, temperature, signal };
    for await (const event of completer.complete(prompt, options)) {
      if (event.type === 'text') yield { type: 'token', text: event.text };
      else {
        const { promptTokens, completionTokens, finishReason } = event;
        yield { type: 'end', finishReason, promptTokens, completionTokens, sources };
      }
    }
  } finally {
    lease.release();
  }
}

/** Searches, and makes a prompt of the passages that fit. The others are not held during the completion. */
async function findPrompt(
  { search, completer, countTokens, defaultMaxTokens }: Dependencies,
  request: QueryRequest,
  lease: Lease,
) {
  const { passages, sources } = await findPassages(search, request, lease);
  const { prompt, maxTokens } = await fitPrompt(
    { question: request.query, passages },
    {
      contextWindow: completer.contextWindow,
      maxTokens: request.maxTokens ?? defaultMaxTokens,
      countTokens,
    },
  );
  return { prompt, maxTokens, sources: sources.slice(0, prompt.passages.length) };
}

/** Searches for passages. Chunks with a score of zero share nothing with the question and are left out. */
async function findPassages(search: Search, request: QueryRequest, lease: Lease) {
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
