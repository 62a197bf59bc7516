import { IngestError, UnavailableError } from '../errors.js';
import type { CallOptions, Embedder } from '../ports.js';
import { tracePlace, withinTraces } from '../tracing/tracing.js';
import { createEmbedInParts, type Embed, type PartedEmbeddings } from './embed-in-parts.js';
import { deliver, openCall, type MeasuredText, type CallEmbeddings, type Entry } from './embedding-calls.js';

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

type Send = (texts: readonly string[], options: CallOptions) => Promise<PartedEmbeddings>;

interface EmbeddingBatcherOptions {
  readonly send: Send;
  readonly limits: BatchLimits;
  /** The time for which a text waits for others while a request is under way. Nothing waits when none is. */
  readonly maxWaitMilliseconds: number;
  readonly maxInFlight: number;
}

/** The greatest size of one request. */
interface BatchLimits {
  readonly inputs: number;
  readonly tokens: number;
}

type EmbeddingBatcher = (texts: readonly MeasuredText[], options?: CallOptions) => Promise<CallEmbeddings>;

interface Request {
  readonly entries: readonly Entry[];
  readonly controller: AbortController;
}

/** The state of a batcher. */
interface Batching extends EmbeddingBatcherOptions {
  readonly inFlight: Set<Request>;
  readonly wait: Wait;
  queue: Entry[];
}

/**
 * Combines the texts of all callers into as few requests as the limits allow, first come first served. A caller fails
 * only with a request that held texts of that caller, and a refused text fails its own caller alone.
 */
function createEmbeddingBatcher(options: EmbeddingBatcherOptions): EmbeddingBatcher {
  const batching: Batching = { ...options, inFlight: new Set(), wait: createWait(), queue: [] };
  return async (texts, { signal } = {}) => {
    signal?.throwIfAborted();
    if (texts.length === 0) return { vectors: [], tokens: 0, inParts: [] };
    return openCall(texts.length, {
      signal,
      begin: (call) => {
        const trace = tracePlace();
        texts.forEach(({ text, tokens }, position) =>
          batching.queue.push({ text, tokens, call, position, trace }),
        );
        schedule(batching);
      },
      abandon: () => abortAbandoned(batching.inFlight),
    });
  };
}

/** Sends full requests at once, and the rest when the wait is over. */
function schedule(batching: Batching): void {
  const { inFlight, maxInFlight, maxWaitMilliseconds, wait } = batching;
  const isIdle = inFlight.size === 0;
  sendQueued(batching, { onlyFull: true });
  if (batching.queue.length === 0 || inFlight.size >= maxInFlight) return;
  wait.begin(isIdle ? null : maxWaitMilliseconds, () => sendAll(batching));
}

function sendAll(batching: Batching): void {
  batching.wait.cancel();
  sendQueued(batching, { onlyFull: false });
}

function sendQueued(batching: Batching, { onlyFull }: { onlyFull: boolean }): void {
  const { inFlight, maxInFlight, limits } = batching;
  const queue = (batching.queue = batching.queue.filter(({ call }) => !call.isSettled));
  while (queue.length > 0 && inFlight.size < maxInFlight) {
    const length = batchLength(queue, limits);
    if (onlyFull && length === queue.length && length < limits.inputs) break;
    start(batching, queue.splice(0, length));
  }
}

function start(batching: Batching, entries: readonly Entry[]): void {
  const { inFlight, send } = batching;
  const request = { entries, controller: new AbortController() };
  inFlight.add(request);
  const traces = entries.map(({ trace }) => trace);
  const work = withinTraces(traces, () => embedHalving(send, entries, request.controller.signal));
  void work.finally(() => {
    inFlight.delete(request);
    sendAll(batching);
  });
}

/** Embeds the texts in one request. When one text is refused, it embeds them in halves until that text is found. */
async function embedHalving(send: Send, batch: readonly Entry[], signal: AbortSignal): Promise<void> {
  const entries = batch.filter(({ call }) => !call.isSettled);
  if (entries.length === 0) return;
  try {
    const texts = entries.map(({ text }) => text);
    deliver(entries, await send(texts, { signal }));
  } catch (error) {
    if (!(error instanceof IngestError) || entries.length === 1) {
      for (const { call } of entries) call.fail(error);
      return;
    }
    const middle = Math.ceil(entries.length / 2);
    await embedHalving(send, entries.slice(0, middle), signal);
    await embedHalving(send, entries.slice(middle), signal);
  }
}

/** Aborts the requests that no caller waits for any more. */
function abortAbandoned(inFlight: ReadonlySet<Request>): void {
  for (const { entries, controller } of inFlight) {
    if (entries.every(({ call }) => call.isSettled)) controller.abort();
  }
}

/** Returns the number of texts from the front of the queue that one request takes; at least one, however long it is. */
function batchLength(queue: readonly Entry[], limits: BatchLimits): number {
  let tokens = 0;
  let length = 0;
  for (const entry of queue) {
    tokens += entry.tokens;
    if (length > 0 && (tokens > limits.tokens || length >= limits.inputs)) break;
    length += 1;
  }
  return length;
}

type Wait = ReturnType<typeof createWait>;

/** Runs one timer at a time. A wait that begins while another runs is part of that one. */
function createWait() {
  let cancel: (() => void) | null = null;
  return {
    /** @param milliseconds null waits until the end of this turn of the event loop */
    begin: (milliseconds: number | null, action: () => void): void => {
      cancel ??= milliseconds === null ? afterThisTurn(action) : after(milliseconds, action);
    },
    cancel: (): void => {
      cancel?.();
      cancel = null;
    },
  };
}

function afterThisTurn(action: () => void): () => void {
  const immediate = setImmediate(action);
  return () => {
    clearImmediate(immediate);
  };
}

function after(milliseconds: number, action: () => void): () => void {
  const timer = setTimeout(action, milliseconds);
  return () => {
    clearTimeout(timer);
  };
}
