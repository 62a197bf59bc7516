import type { CallOptions, Completer, Embedder, Embeddings, Reranker } from '../ports.js';
import { isTracing, traced, tracedStream, type Span, type SpanOptions } from '../tracing/tracing.js';

/** The provider of a model's answers: a kind of the settings, and the address of a server. */
export interface ModelProvider {
  readonly name: string;
  /** Null for one in this process. */
  readonly baseUrl: string | null;
}

/** Returns the attributes of OpenTelemetry's conventions for generative AI. None holds questions or answers. */
const optionsOf = (operation: string, model: string, { name, baseUrl }: ModelProvider): SpanOptions => ({
  ...(baseUrl === null ? {} : { kind: 'client' }),
  attributes: {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': name,
    'gen_ai.request.model': model,
    ...(baseUrl === null ? {} : { 'server.address': new URL(baseUrl).hostname }),
  },
});

/** An embedder whose calls are spans. */
export function traceEmbedder(embedder: Embedder, provider: ModelProvider): Embedder {
  if (!isTracing()) return embedder;
  const options = optionsOf('embeddings', embedder.model, provider);
  const embed = (texts: number, work: () => Promise<Embeddings>) =>
    traced(`embeddings ${embedder.model}`, options, async (span) => {
      const made = await work();
      span.set({ 'quire.texts': texts, 'gen_ai.usage.input_tokens': made.tokens ?? undefined });
      return made;
    });
  const embedQueries = embedder.embedQueries?.bind(embedder);
  return {
    model: embedder.model,
    limits: embedder.limits,
    dimensions: (call) => embedder.dimensions(call),
    embedDocuments: (texts, call) => embed(texts.length, () => embedder.embedDocuments(texts, call)),
    embedQuery: (text, call) => embed(1, () => embedder.embedQuery(text, call)),
    ...(embedQueries && {
      embedQueries: (texts: readonly string[], call?: CallOptions) =>
        embed(texts.length, () => embedQueries(texts, call)),
    }),
  };
}

/** A completer whose answers are spans, from the request to the last piece. */
export function traceCompleter(completer: Completer, provider: ModelProvider): Completer {
  if (!isTracing()) return completer;
  const { model, contextWindow } = completer;
  const options = optionsOf('chat', model, provider);
  const complete: Completer['complete'] = (prompt, call) =>
    tracedStream(`chat ${model}`, options, (span) => noteEnd(span, completer.complete(prompt, call)));
  return { model, contextWindow, complete };
}

async function* noteEnd(span: Span, events: ReturnType<Completer['complete']>) {
  for await (const event of events) {
    if (event.type === 'end')
      span.set({
        'gen_ai.usage.input_tokens': event.promptTokens,
        'gen_ai.usage.output_tokens': event.completionTokens,
        'quire.finish_reason': event.finishReason,
      });
    yield event;
  }
}

/** A reranker whose calls are spans. */
export function traceReranker(reranker: Reranker, provider: ModelProvider): Reranker {
  if (!isTracing()) return reranker;
  const { model, limits } = reranker;
  const options = optionsOf('rerank', model, provider);
  return {
    model,
    limits,
    rerank: (query, documents, call) =>
      traced(`rerank ${model}`, options, async (span) => {
        const scores = await reranker.rerank(query, documents, call);
        span.set({
          'quire.texts': documents.length,
          'gen_ai.usage.input_tokens': scores.tokens ?? undefined,
        });
        return scores;
      }),
  };
}
