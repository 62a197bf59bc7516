import { fitPrompt } from '../../shared/prompt.js';
import type { Completer, Passage } from '../../shared/ports.js';
import type { Hit, Search } from '../../shared/search.js';
import type { Accounting } from './accounting.js';
import type { AnswerMemory } from './answer-memory.js';
import { heldSize } from './held-size.js';
import { hitsWanted, searchMetadata, type RetrievalRequest } from './retrieval.js';

export interface QueryRequest extends RetrievalRequest {
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
}

export interface Source {
  readonly document_id: string;
  readonly chunk_number: number;
  readonly score: number;
}

export type QueryEvent =
  { readonly type: 'token'; readonly text: string } | ({ readonly type: 'end' } & QueryEnd);

export interface QueryEnd {
  readonly finish_reason: 'stop' | 'length';
  readonly usage: {
    readonly completion_tokens: number;
    readonly prompt_tokens: number;
    readonly total_tokens: number;
  };
  readonly sources: readonly Source[];
}

export type QueryService = ReturnType<typeof createQuery>;

/** Completions over the best chunks for a question. */
export function createQuery(parts: {
  readonly search: Search;
  readonly completer: Completer;
  readonly accounting: Accounting;
  readonly memory: AnswerMemory;
  readonly countTokens: (text: string) => number;
  readonly defaultMaxTokens: number;
}) {
  const { completer, accounting } = parts;

  const accounted = (request: QueryRequest) => {
    const { callerId: userId, startedAtMs, signal } = request;
    return { operation: 'query', userId, startedAtMs, signal, metadata: searchMetadata(request) } as const;
  };

  async function* answer(request: QueryRequest): AsyncIterable<QueryEvent> {
    const lease = await parts.memory.reserve(hitsWanted(request));
    try {
      const { prompt, maxTokens, sources } = await findPrompt(request);
      lease.resize(heldSize(prompt) + heldSize(sources));
      const { temperature, signal } = request;
      for await (const event of completer.complete(prompt, { maxTokens, temperature, signal })) {
        if (event.type === 'text') yield { type: 'token', text: event.text };
        else {
          const { promptTokens: prompt_tokens, completionTokens: completion_tokens } = event;
          const usage = { completion_tokens, prompt_tokens, total_tokens: prompt_tokens + completion_tokens };
          yield { type: 'end', finish_reason: event.finishReason, usage, sources };
        }
      }
    } finally {
      lease.release();
    }
  }

  /** What fits of the passages that were found; the rest is not held while the completion comes. */
  const findPrompt = async (request: QueryRequest) => {
    const { passages, sources } = await findPassages(parts.search, request);
    const { prompt, maxTokens } = await fitPrompt(
      { question: request.query, passages },
      {
        contextWindow: completer.contextWindow,
        maxTokens: request.maxTokens ?? parts.defaultMaxTokens,
        countTokens: parts.countTokens,
      },
    );
    return { prompt, maxTokens, sources: sources.slice(0, prompt.passages.length) };
  };

  return {
    complete: (request: QueryRequest) =>
      accounting.run(accounted(request), async () => {
        let completion = '';
        for await (const event of answer(request)) {
          if (event.type === 'token') completion += event.text;
          else {
            const { finish_reason, usage, sources } = event;
            return { result: { completion, usage, finish_reason, sources }, tokens: usage.total_tokens };
          }
        }
        throw new Error('the completer ended without saying so');
      }),

    stream: (request: QueryRequest): AsyncIterable<QueryEvent> =>
      accounting.stream(accounted(request), answer(request), (event) =>
        event.type === 'end' ? event.usage.total_tokens : null,
      ),
  };
}

/** Chunks that share nothing with the question are no context: all of score zero means that nothing was found. */
async function findPassages(search: Search, request: QueryRequest) {
  const hits = (await search({ ...request, per: 'chunk' })).filter(({ score }) => score > 0);
  return { passages: hits.map(toPassage), sources: hits.map(toSource) };
}

function toPassage({ record, number, content }: Hit): Passage {
  return { documentId: record.id, chunkNumber: number, text: content };
}

function toSource({ record, number, score }: Hit): Source {
  return { document_id: record.id, chunk_number: number, score };
}
