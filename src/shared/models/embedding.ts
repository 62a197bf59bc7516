import { at } from '../at.js';
import { IngestError, UnavailableError, toError } from '../errors.js';
import type { CallOptions, Embedder } from '../ports.js';
import { tracePlace, withinTraces, type TracePlace } from '../tracing/tracing.js';
import { createEmbedInParts, type Embed, type PartedEmbeddings } from './embed-in-parts.js';

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

/** A text and its number of tokens. */
export interface MeasuredText {
  readonly text: string;
  readonly tokens: number;
}

/** The texts of one call, and their vectors so far. */
interface Call {
  readonly vectors: Float32Array[];
  missing: number;
  /** Null once a reply did not tell its tokens. */
  tokens: number | null;
  /** Tells of each text whether it was embedded in parts. */
  readonly inParts: boolean[];
  isSettled: boolean;
  succeed(): void;
  fail(error: unknown): void;
}

/** The vectors of a call's texts, and for each whether it is the mean of the vectors of parts. */
type CallEmbeddings = Required<PartedEmbeddings>;

/** One text of a call, and its position there. */
interface Entry extends MeasuredText {
  readonly call: Call;
  readonly position: number;
  /** The trace for which it is embedded. */
  readonly trace: TracePlace | null;
}

interface CallHooks extends CallOptions {
  readonly begin: (call: Call) => void;
  readonly abandon: () => void;
}

/** Opens a call, which resolves when all its vectors are there, and rejects when it failed or was aborted. */
function openCall(size: number, { signal, begin, abandon }: CallHooks): Promise<CallEmbeddings> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      if (call.isSettled) return;
      call.isSettled = true;
      signal?.removeEventListener('abort', abort);
      finish();
    };
    const call: Call = {
      vectors: [],
      missing: size,
      tokens: 0,
      inParts: [],
      isSettled: false,
      succeed: () => {
        settle(() => {
          resolve({ vectors: call.vectors, tokens: call.tokens, inParts: call.inParts });
        });
      },
      fail: (error) => {
        settle(() => {
          reject(toError(error));
        });
      },
    };
    const abort = () => {
      call.fail(signal?.reason);
      abandon();
    };
    signal?.addEventListener('abort', abort, { once: true });
    begin(call);
  });
}

/** Distributes the vectors of a request to the calls that its texts come from. */
function deliver(entries: readonly Entry[], { vectors, tokens, inParts }: PartedEmbeddings): void {
  const shares = tokens === null ? null : shareTokens(entries, tokens);
  entries.forEach(({ call, position }, index) => {
    const vector = vectors[index];
    if (!vector) throw new Error('the embedder returned fewer vectors than texts');
    call.vectors[position] = vector;
    call.tokens = call.tokens === null || shares === null ? null : call.tokens + at(shares, index);
    call.inParts[position] = inParts?.[index] === true;
    call.missing -= 1;
    if (call.missing === 0) call.succeed();
  });
}

/** Splits the billed tokens of a request in proportion to the texts' own counts. The shares are whole and add up. */
function shareTokens(entries: readonly Entry[], total: number): number[] {
  const weights = entries.map(({ tokens }) => Math.max(1, tokens));
  const sum = weights.reduce((left, right) => left + right, 0);
  let counted = 0;
  let given = 0;
  return weights.map((weight) => {
    counted += weight;
    const share = Math.round((total * counted) / sum) - given;
    given += share;
    return share;
  });
}
