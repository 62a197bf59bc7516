import type { Metadata } from '../../shared/document.js';
import { AppError } from '../../shared/errors.js';
import type { AnswerEvent } from '../../shared/search/answer-event.js';
import { usageEvent, type Operation, type Usage } from '../../shared/usage/usage.js';
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

/** The event of a success that a step of the operation may append by itself. */
export interface EventAlong extends AnswerEvent {
  readonly isAppended: boolean;
}

export interface Accounting {
  /**
   * Runs an operation and appends its one usage event before the response is sent. The event's status is `error` when the
   * operation failed on our side; a mistake of the caller leaves no event.
   */
  run<Result>(request: AccountedRequest, action: () => Promise<Accounted<Result>>): Promise<Result>;
  /**
   * Runs the first part of an operation whose last step writes the event. Appends an event only when it fails here, and
   * none when the event that went along may have been appended.
   */
  begin<Result>(
    request: AccountedRequest,
    action: () => Promise<Result>,
    along?: Pick<EventAlong, 'isOpen'>,
  ): Promise<Result>;
  /** The event of an operation that succeeds with the step that appends it. */
  along(
    request: AccountedRequest,
    options: { readonly tokens: number; readonly maxBytes: number },
  ): EventAlong;
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

export function createUsageAccounting(usage: Usage): Accounting {
  return {
    begin: (request, action, along) => begin(usage, request, { action, along }),
    along: createEventAlong,
    succeed: (request, tokens) => appendSuccess(usage, request, tokens),
    run: async (request, action) => {
      const done = await begin(usage, request, { action });
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
  usage: Usage,
  request: AccountedRequest,
  {
    action,
    along,
  }: {
    readonly action: () => Promise<Result>;
    readonly along?: Pick<EventAlong, 'isOpen'> | undefined;
  },
): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (along?.isOpen !== false) await appendFailure(usage, request, error);
    throw error;
  }
}

function createEventAlong(
  request: AccountedRequest,
  { tokens, maxBytes }: { readonly tokens: number; readonly maxBytes: number },
): EventAlong {
  let state: 'open' | 'sent' | 'appended' = 'open';
  return {
    maxBytes,
    get isOpen() {
      return state === 'open';
    },
    get isAppended() {
      return state === 'appended';
    },
    make: () => {
      // A client that has left by now gets nothing.
      request.signal?.throwIfAborted();
      state = 'sent';
      return usageEvent({ ...request, status: 'success', tokens });
    },
    settle: (isAppended) => {
      state = isAppended ? 'appended' : 'open';
    },
  };
}

function countStream<Item>(
  usage: Usage,
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

async function appendSuccess(usage: Usage, request: AccountedRequest, tokens: number): Promise<void> {
  await usage.append(usageEvent({ ...request, status: 'success', tokens }));
}

/** Appends an event for a failure on our side. Mistakes of the caller leave none. */
async function appendFailure(usage: Usage, request: AccountedRequest, error: unknown): Promise<void> {
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
