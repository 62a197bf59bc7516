import { IngestError } from '../errors.js';
import type { CallOptions, Embeddings } from '../ports.js';
import { deliver, openCall, type Entry, type MeasuredText } from './embedding-calls.js';

type Send = (texts: readonly string[], options: CallOptions) => Promise<Embeddings>;

interface EmbeddingBatcherOptions {
  readonly send: Send;
  readonly limits: BatchLimits;
  /** How long a text waits for company while a request is under way; nothing waits when none is. */
  readonly maxWaitMilliseconds: number;
  readonly maxInFlight: number;
}

/** How much one request may hold. */
interface BatchLimits {
  readonly inputs: number;
  readonly tokens: number;
}

type EmbeddingBatcher = (texts: readonly MeasuredText[], options?: CallOptions) => Promise<Embeddings>;

interface Request {
  readonly entries: readonly Entry[];
  readonly controller: AbortController;
}

/** What a batcher works with. */
interface Batching extends EmbeddingBatcherOptions {
  readonly inFlight: Set<Request>;
  readonly wait: Wait;
  queue: Entry[];
}

/**
 * Makes as few requests as the limits allow of the texts of all callers, first come first served.
 * A caller fails only by a request that held texts of its own; a refused text fails its caller alone.
 */
export function createEmbeddingBatcher(options: EmbeddingBatcherOptions): EmbeddingBatcher {
  const batching: Batching = { ...options, inFlight: new Set(), wait: createWait(), queue: [] };
  return async (texts, { signal } = {}) => {
    signal?.throwIfAborted();
    if (texts.length === 0) return { vectors: [], tokens: 0 };
    return openCall(texts.length, {
      signal,
      begin: (call) => {
        texts.forEach(({ text, tokens }, position) => batching.queue.push({ text, tokens, call, position }));
        schedule(batching);
      },
      abandon: () => abortAbandoned(batching.inFlight),
    });
  };
}

/** Sends what fills a request at once, and the rest when the wait is over. */
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
  void embedHalving(send, entries, request.controller.signal).finally(() => {
    inFlight.delete(request);
    sendAll(batching);
  });
}

/** Embeds the texts in one request; where one of them is refused, in halves, until it is found. */
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

/** Ends the requests whose callers have all gone. */
function abortAbandoned(inFlight: ReadonlySet<Request>): void {
  for (const { entries, controller } of inFlight) {
    if (entries.every(({ call }) => call.isSettled)) controller.abort();
  }
}

/** How many of the queue's first texts one request takes; at least one, however long. */
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

/** One timer at a time: a second wait that begins before the first is over is the first. */
function createWait() {
  let cancel: (() => void) | null = null;
  return {
    /** @param milliseconds null for the end of this turn of the event loop */
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
