import { IngestError } from './errors.js';
import type { CallOptions, Embeddings } from './ports.js';

export interface CountedText {
  readonly text: string;
  readonly tokens: number;
}

interface CoalescerOptions {
  readonly send: (texts: readonly string[], options: CallOptions) => Promise<Embeddings>;
  readonly limits: { readonly inputs: number; readonly tokens: number };
  /** How long a text waits for company while a request is under way; nothing waits when none is. */
  readonly maxWaitMilliseconds: number;
  readonly maxInFlight: number;
}

type Coalescer = (texts: readonly CountedText[], options?: CallOptions) => Promise<Embeddings>;

/** One caller's texts, and what is known of them. */
interface Call {
  readonly vectors: Float32Array[];
  missing: number;
  /** null once a reply did not say. */
  tokens: number | null;
  isSettled: boolean;
  succeed(): void;
  fail(error: unknown): void;
}

interface Entry extends CountedText {
  readonly call: Call;
  readonly position: number;
}

interface Request {
  readonly entries: readonly Entry[];
  readonly controller: AbortController;
}

/**
 * Makes as few requests as the limits allow of the texts of all callers, first come first served.
 * A caller fails only by a request that held texts of its own; a refused text fails its caller alone.
 */
export function createCoalescer(options: CoalescerOptions): Coalescer {
  const { send, limits, maxWaitMilliseconds, maxInFlight } = options;
  let queue: Entry[] = [];
  const inFlight = new Set<Request>();
  let cancelWait: (() => void) | null = null;

  const start = (entries: readonly Entry[]) => {
    const request = { entries, controller: new AbortController() };
    inFlight.add(request);
    void run(entries, request.controller.signal).finally(() => {
      inFlight.delete(request);
      flush();
    });
  };

  const flush = ({ onlyFull } = { onlyFull: false }) => {
    if (!onlyFull) {
      cancelWait?.();
      cancelWait = null;
    }
    queue = queue.filter(({ call }) => !call.isSettled);
    while (queue.length > 0 && inFlight.size < maxInFlight) {
      const length = batchLength(queue, limits);
      if (onlyFull && length === queue.length && length < limits.inputs) break;
      start(queue.splice(0, length));
    }
  };

  const run = async (batch: readonly Entry[], signal: AbortSignal): Promise<void> => {
    const entries = batch.filter(({ call }) => !call.isSettled);
    if (entries.length === 0) return;
    try {
      deliver(entries, await send(textsOf(entries), { signal }));
    } catch (error) {
      if (!(error instanceof IngestError) || entries.length === 1) {
        for (const { call } of entries) call.fail(error);
        return;
      }
      const middle = Math.ceil(entries.length / 2);
      await run(entries.slice(0, middle), signal);
      await run(entries.slice(middle), signal);
    }
  };

  const schedule = () => {
    const isIdle = inFlight.size === 0;
    flush({ onlyFull: true });
    if (queue.length === 0 || inFlight.size >= maxInFlight) return;
    cancelWait ??= isIdle
      ? afterThisTurn(() => {
          flush();
        })
      : after(maxWaitMilliseconds, () => {
          flush();
        });
  };

  const abandonRequests = () => {
    for (const { entries, controller } of inFlight) {
      if (entries.every(({ call }) => call.isSettled)) controller.abort();
    }
  };

  return async (texts, { signal } = {}) => {
    signal?.throwIfAborted();
    if (texts.length === 0) return { vectors: [], tokens: 0 };
    return openCall(texts.length, {
      signal,
      begin: (call) => {
        texts.forEach(({ text, tokens }, position) => queue.push({ text, tokens, call, position }));
        schedule();
      },
      abandon: abandonRequests,
    });
  };
}

interface CallHooks extends CallOptions {
  readonly begin: (call: Call) => void;
  readonly abandon: () => void;
}

function openCall(size: number, { signal, begin, abandon }: CallHooks): Promise<Embeddings> {
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
      isSettled: false,
      succeed: () => {
        settle(() => {
          resolve({ vectors: call.vectors, tokens: call.tokens });
        });
      },
      fail: (error) => {
        settle(() => {
          reject(error instanceof Error ? error : new Error('embedding failed', { cause: error }));
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

/** How many of the queue's first texts one request takes; at least one, however long. */
function batchLength(queue: readonly Entry[], limits: CoalescerOptions['limits']): number {
  let tokens = 0;
  let length = 0;
  for (const entry of queue) {
    tokens += entry.tokens;
    if (length > 0 && (tokens > limits.tokens || length >= limits.inputs)) break;
    length += 1;
  }
  return length;
}

function textsOf(entries: readonly Entry[]): string[] {
  return entries.map(({ text }) => text);
}

function deliver(entries: readonly Entry[], { vectors, tokens }: Embeddings): void {
  const shares = tokens === null ? null : shareTokens(entries, tokens);
  entries.forEach(({ call, position }, index) => {
    const vector = vectors[index];
    if (!vector) throw new Error('the embedder returned fewer vectors than texts');
    call.vectors[position] = vector;
    const share = shares?.[index];
    call.tokens = call.tokens === null || share === undefined ? null : call.tokens + share;
    call.missing -= 1;
    if (call.missing === 0) call.succeed();
  });
}

/** Splits what a request was billed by the texts' own counts; the shares are whole and add up. */
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
