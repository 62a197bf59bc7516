import { IngestError, UnavailableError } from '../errors.js';
import type { CallOptions, Embedder } from '../ports.js';
import { createEmbeddingBatcher } from './embedding-batcher.js';
import type { MeasuredText } from './embedding-calls.js';

export interface EmbeddingOptions {
  /** How long texts wait for company while requests are under way; about the time a provider's request costs. */
  readonly maxWaitMilliseconds: number;
  /** Requests to the provider at once. */
  readonly maxInFlight?: number;
}

/** An embedder with batching above it: what workers and searches use. */
export interface Embedding {
  readonly model: string;
  dimensions(options?: CallOptions): Promise<number>;
  /**
   * One vector per text, in order; `tokens` as billed, else as counted by the caller.
   * @throws UnavailableError; IngestError when one of these texts is refused
   */
  embedDocuments(
    texts: readonly MeasuredText[],
    options?: CallOptions,
  ): Promise<{ vectors: readonly Float32Array[]; tokens: number }>;
  /** `tokens` is null when the provider does not count. @throws UnavailableError */
  embedQuery(text: string, options?: CallOptions): Promise<{ vector: Float32Array; tokens: number | null }>;
}

const QUERY_WAIT_MILLISECONDS = 2;

export function createEmbedding(embedder: Embedder, options: EmbeddingOptions): Embedding {
  const { maxWaitMilliseconds, maxInFlight = 4 } = options;
  const { limits } = embedder;
  const documents = createEmbeddingBatcher({
    send: (texts, call) => embedder.embedDocuments(texts, call),
    limits,
    maxWaitMilliseconds,
    maxInFlight,
  });
  const queries = gatherQueries(embedder, {
    maxWaitMilliseconds: Math.min(maxWaitMilliseconds, QUERY_WAIT_MILLISECONDS),
    maxInFlight: 4 * maxInFlight,
  });
  return {
    model: embedder.model,
    dimensions: (call) => embedder.dimensions(call),
    embedDocuments: async (texts, call) => {
      const { vectors, tokens } = await documents(texts, call);
      return { vectors, tokens: tokens ?? texts.reduce((sum, text) => sum + text.tokens, 0) };
    },
    embedQuery: async (text, call) => {
      const {
        vectors: [vector],
        tokens,
      } = await queries(text, call).catch((error: unknown) => {
        // A search has no document to fail: it is answered 503, like all that the provider cannot do.
        throw error instanceof IngestError
          ? new UnavailableError('embedding provider', { cause: error })
          : error;
      });
      if (!vector) throw new Error('the embedder returned no vector');
      return { vector, tokens };
    },
  };
}

function gatherQueries(embedder: Embedder, timing: { maxWaitMilliseconds: number; maxInFlight: number }) {
  const embedQueries = embedder.embedQueries?.bind(embedder);
  if (!embedQueries) return (text: string, call?: CallOptions) => embedder.embedQuery(text, call);
  const gathered = createEmbeddingBatcher({
    send: (texts, call) => embedQueries(texts, call),
    limits: embedder.limits,
    ...timing,
  });
  // Bytes are the most tokens that a text can have: near enough for queries, and free.
  return (text: string, call?: CallOptions) => gathered([{ text, tokens: Buffer.byteLength(text) }], call);
}
