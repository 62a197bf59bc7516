import type { Metadata } from '../../shared/document.js';
import { AppError } from '../../shared/errors.js';
import type { RerankReport } from '../../shared/search/reranked-search.js';
import { usageEvent, type Operation, type UsageEvent } from '../../shared/usage/usage.js';
import { AbandonedError } from './abandoned-error.js';
import { onStreamEnd, type StreamEnd } from './stream-end.js';

export interface AccountedRequest {
  readonly operation: Operation;
  readonly userId: string;
  readonly startedAtMs: number;
  /** The request's metadata; never the content of documents. */
  readonly metadata: Metadata;
  /** Aborts, with an AbandonedError, when the client goes away. */
  readonly signal?: AbortSignal | undefined;
}

export interface Accounted<Result> {
  readonly result: Result;
  readonly tokens: number;
}

export interface Accounting {
  /**
   * Runs an operation and appends its one usage event before the response is sent. The event's status is `error` when the
   * operation failed on our side; a mistake of the caller leaves no event.
   */
  run<Result>(request: AccountedRequest, action: () => Promise<Accounted<Result>>): Promise<Result>;
  /** Runs the first part of an operation whose last step writes the event. Appends an event only when it fails here. */
  begin<Result>(request: AccountedRequest, action: () => Promise<Result>): Promise<Result>;
  /** Appends the event of an operation that `begin` has run, when nothing is left that could fail but the sending. */
  succeed(request: AccountedRequest, tokens: number): Promise<void>;
  /**
   * The same as `run`, for a stream whose last item tells the tokens. The event is appended before that item is sent. A
   * stream that fails, or whose client leaves or stalls, is an `error`.
   */
  stream<Item>(
    request: AccountedRequest,
    items: AsyncIterable<Item>,
    tokensOfLast: (item: Item) => number | null,
  ): AsyncIterable<Item>;
  /** The same for a list. The event is appended after its last item and before the end of the response. */
  list<Item>(request: AccountedRequest, items: AsyncIterable<Item>, tokens: number): AsyncIterable<Item>;
}

/** The store that takes events. An operation that cannot be counted is not answered: it fails with the error of the store. */
interface Counted {
  append(event: UsageEvent): Promise<void> | void;
}

export function createUsageAccounting(usage: Counted): Accounting {
  return {
    begin: (request, action) => begin(usage, request, action),
    succeed: (request, tokens) => appendSuccess(usage, request, tokens),
    run: async (request, action) => {
      const done = await begin(usage, request, action);
      await appendSuccess(usage, request, done.tokens);
      return done.result;
    },
    stream: (request, items, tokensOfLast) => countStream(usage, request, { items, tokensOfLast }),
    list: (request, items, tokens) =>
      onStreamEnd(items, async (end) => {
        if (end.type === 'done') await appendSuccess(usage, request, tokens);
        else await appendFailure(usage, request, errorOf(end));
      }),
  };
}

async function begin<Result>(
  usage: Counted,
  request: AccountedRequest,
  action: () => Promise<Result>,
): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    await appendFailure(usage, request, error);
    throw error;
  }
}

function countStream<Item>(
  usage: Counted,
  request: AccountedRequest,
  {
    items,
    tokensOfLast,
  }: { readonly items: AsyncIterable<Item>; readonly tokensOfLast: (item: Item) => number | null },
): AsyncIterable<Item> {
  let isCounted = false;
  async function* counted() {
    for await (const item of items) {
      const tokens = tokensOfLast(item);
      if (tokens !== null) {
        isCounted = true;
        await appendSuccess(usage, request, tokens);
      }
      yield item;
    }
    if (!isCounted) throw new Error('the stream ended without its last item');
  }
  return onStreamEnd(counted(), async (end) => {
    if (!isCounted) await appendFailure(usage, request, errorOf(end));
  });
}

async function appendSuccess(usage: Counted, request: AccountedRequest, tokens: number): Promise<void> {
  await usage.append(usageEvent({ ...request, status: 'success', tokens }));
}

/** Appends an event for a failure on our side. Mistakes of the caller leave none. */
async function appendFailure(usage: Counted, request: AccountedRequest, error: unknown): Promise<void> {
  if (error instanceof AppError && error.isCallersFault) return;
  const code = codeOf(error, request.signal);
  const metadata = code === null ? request.metadata : { ...request.metadata, error: code };
  try {
    await usage.append(usageEvent({ ...request, metadata, status: 'error', tokens: 0 }));
  } catch (cause) {
    // Redis is away as well: the caller gets the first error, with this one attached to it.
    if (error instanceof Error) error.cause ??= cause;
  }
}

function errorOf(end: StreamEnd): unknown {
  switch (end.type) {
    case 'done':
      return null;
    case 'failed':
      return end.error;
    case 'left':
      return end.reason;
  }
}

/** Returns the code of an AbandonedError; null when the client is not the reason of the failure. */
function codeOf(error: unknown, signal: AbortSignal | undefined): AbandonedError['code'] | null {
  const reason: unknown = signal?.aborted === true ? signal.reason : error;
  return reason instanceof AbandonedError ? reason.code : null;
}

/** Makes the usage of an operation: its tokens, with the outcome of reranking and its tokens, where it was asked for. */
export function withRerank(
  request: AccountedRequest,
  tokens: number,
  rerank: RerankReport | null,
): { readonly request: AccountedRequest; readonly tokens: number } {
  if (rerank === null) return { request, tokens };
  const reranked = rerank.outcome === 'applied';
  const metadata = { ...request.metadata, reranked, ...(reranked ? { rerank_tokens: rerank.tokens } : {}) };
  return { request: { ...request, metadata }, tokens: tokens + rerank.tokens };
}
