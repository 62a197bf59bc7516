import type { FindOptions } from './local-models/processes/find-model.js';
import type { Completer, Embedder, Reranker, CallOptions, Embeddings } from './ports.js';
import { completerOf, embedderOf, rerankerOf } from './settings/chosen-adapters.js';
import type { Settings } from './settings/schema.js';
import { isTracing, traced, tracedStream, type Span, type SpanOptions } from './tracing/tracing.js';

/** The adapters that the settings name, for the contexts of all processes. */
export async function createEmbedder(settings: Settings, options: FindOptions): Promise<Embedder> {
  const adapter = embedderOf(settings);
  return traceEmbedder(await adapter.create(settings, options), providerOf(adapter, settings));
}

export async function createCompleter(settings: Settings, options: FindOptions): Promise<Completer> {
  const adapter = completerOf(settings);
  return traceCompleter(await adapter.create(settings, options), providerOf(adapter, settings));
}

/** Null without one. */
export async function createReranker(settings: Settings, options: FindOptions): Promise<Reranker | null> {
  const adapter = rerankerOf(settings);
  return adapter && traceReranker(await adapter.create(settings, options), providerOf(adapter, settings));
}

type Adapter = NonNullable<ReturnType<typeof embedderOf | typeof completerOf | typeof rerankerOf>>;

const providerOf = ({ name, place, inUse }: Adapter, settings: Settings): ModelProvider => ({
  name,
  baseUrl: place.at === 'provider' ? inUse(settings).address : null,
});

/** The provider of a model's answers: a kind of the settings, and the address of a server. */
interface ModelProvider {
  readonly name: string;
  /** Null for one in this process. */
  readonly baseUrl: string | null;
}

/** Returns the attributes of OpenTelemetry's conventions for generative AI. None holds questions or answers. */
const spanOptionsOf = (operation: string, model: string, { name, baseUrl }: ModelProvider): SpanOptions => ({
  ...(baseUrl === null ? {} : { kind: 'client' }),
  attributes: {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': name,
    'gen_ai.request.model': model,
    ...(baseUrl === null ? {} : { 'server.address': new URL(baseUrl).hostname }),
  },
});

/** An embedder whose calls are spans. */
function traceEmbedder(embedder: Embedder, provider: ModelProvider): Embedder {
  if (!isTracing()) return embedder;
  const options = spanOptionsOf('embeddings', embedder.model, provider);
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
function traceCompleter(completer: Completer, provider: ModelProvider): Completer {
  if (!isTracing()) return completer;
  const { model, contextWindow } = completer;
  const options = spanOptionsOf('chat', model, provider);
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
function traceReranker(reranker: Reranker, provider: ModelProvider): Reranker {
  if (!isTracing()) return reranker;
  const { model, limits } = reranker;
  const options = spanOptionsOf('rerank', model, provider);
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
