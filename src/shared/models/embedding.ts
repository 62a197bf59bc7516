import { IngestError, UnavailableError } from '../errors.js';
import type { CallOptions, Embedder } from '../ports.js';
import { createEmbedInParts, type Embed } from './embed-in-parts.js';
import { createEmbeddingBatcher } from './embedding-batcher.js';
import type { MeasuredText } from './embedding-calls.js';

export interface EmbeddingOptions {
  /**
   * The time for which texts wait for others while requests are under way; about as long as a request to the provider
   * takes.
   */
  readonly maxWaitMilliseconds: number;
  /** Requests to the provider at the same time with texts of documents; four times as many may be with queries. */
  readonly maxInFlight?: number;
  /** Called once when the model refuses a text as too long, with the tokens of the parts in which texts are embedded from then on. */
  readonly onSmallWindow?: (tokens: number) => void;
}

/** An embedder with batching on top, as workers and searches use it. */
export interface Embedding {
  readonly model: string;
  dimensions(options?: CallOptions): Promise<number>;
  /**
   * Returns one vector for each text, in order. `tokens` is the number billed, or else the callers' own count; `inParts`
   * says of each text whether it is longer than the model reads, so that its vector is the mean of its parts'.
   * @throws UnavailableError when the provider cannot answer; IngestError when it refuses one of these texts
   */
  embedDocuments(
    texts: readonly MeasuredText[],
    options?: CallOptions,
  ): Promise<{ vectors: readonly Float32Array[]; tokens: number; inParts: readonly boolean[] }>;
  /** `tokens` is null when the provider does not count. @throws UnavailableError */
  embedQuery(text: string, options?: CallOptions): Promise<{ vector: Float32Array; tokens: number | null }>;
}

const QUERY_WAIT_MILLISECONDS = 2;
/** Few, since each holds as many texts as wait, and providers limit the number of requests. */
const REQUESTS_AT_ONCE = 4;

export function createEmbedding(embedder: Embedder, options: EmbeddingOptions): Embedding {
  const { maxWaitMilliseconds, maxInFlight = REQUESTS_AT_ONCE } = options;
  const { limits } = embedder;
  const inParts = (embed: Embed) =>
    createEmbedInParts({ embed, maxInputs: limits.inputs, onSmallWindow: options.onSmallWindow });
  const documents = createEmbeddingBatcher({
    send: inParts((texts, call) => embedder.embedDocuments(texts, call)),
    limits,
    maxWaitMilliseconds,
    maxInFlight,
  });
  const queries = gatherQueries(embedder, inParts, {
    maxWaitMilliseconds: Math.min(maxWaitMilliseconds, QUERY_WAIT_MILLISECONDS),
    // They are short, and somebody waits for each.
    maxInFlight: 4 * maxInFlight,
  });
  return {
    model: embedder.model,
    dimensions: (call) => embedder.dimensions(call),
    embedDocuments: async (texts, call) => {
      const { tokens, ...made } = await documents(texts, call);
      return { ...made, tokens: tokens ?? texts.reduce((sum, text) => sum + text.tokens, 0) };
    },
    embedQuery: async (text, call) => {
      const {
        vectors: [vector],
        tokens,
      } = await queries(text, call).catch((error: unknown) => {
        // A search has no document that could fail. It is answered 503, as for every failure of the provider.
        throw error instanceof IngestError
          ? new UnavailableError('embedding provider', { cause: error })
          : error;
      });
      if (!vector) throw new Error('the embedder returned no vector');
      return { vector, tokens };
    },
  };
}

function gatherQueries(
  embedder: Embedder,
  inParts: (embed: Embed) => Embed,
  timing: { maxWaitMilliseconds: number; maxInFlight: number },
) {
  const embedQueries = embedder.embedQueries?.bind(embedder);
  if (!embedQueries) {
    const embedEach = inParts(async (texts, call) => {
      const replies = await Promise.all(texts.map((text) => embedder.embedQuery(text, call)));
      const counts = replies.map(({ tokens }) => tokens);
      const tokens = counts.reduce((sum, count) => (sum === null || count === null ? null : sum + count), 0);
      return { vectors: replies.flatMap(({ vectors }) => vectors), tokens };
    });
    return (text: string, call: CallOptions = {}) => embedEach([text], call);
  }
  const gathered = createEmbeddingBatcher({
    send: inParts((texts, call) => embedQueries(texts, call)),
    limits: embedder.limits,
    ...timing,
  });
  // A text has at most one token for each byte, which is a free and sufficient estimate for queries.
  return (text: string, call?: CallOptions) => gathered([{ text, tokens: Buffer.byteLength(text) }], call);
}
