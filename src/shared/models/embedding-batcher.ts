import { IngestError } from '../errors.js';
import type { CallOptions } from '../ports.js';
import { tracePlace, withinTraces } from '../tracing/tracing.js';
import { deliver, openCall, type CallEmbeddings, type Entry, type MeasuredText } from './embedding-calls.js';
import type { PartedEmbeddings } from './embed-in-parts.js';

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
export function createEmbeddingBatcher(options: EmbeddingBatcherOptions): EmbeddingBatcher {
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
