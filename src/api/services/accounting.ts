import type { Metadata } from '../../shared/document.js';
import { AppError } from '../../shared/errors.js';
import { usageEvent, type Operation, type Usage } from '../../shared/usage/usage.js';
import { AbandonedError } from './abandoned-error.js';
import { onStreamEnd, type StreamEnd } from './retrieval/stream-end.js';

export interface AccountedRequest {
  readonly operation: Operation;
  readonly userId: string;
  readonly startedAtMs: number;
  /** What was asked, never what documents hold. */
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
   * Runs an operation and appends its one usage event before its answer is sent: `error` when it failed on our side;
   * what the caller got wrong leaves none.
   */
  run<Result>(request: AccountedRequest, action: () => Promise<Accounted<Result>>): Promise<Result>;
  /** The first part of an operation whose event is written by its last step: an event only when it fails here. */
  begin<Result>(request: AccountedRequest, action: () => Promise<Result>): Promise<Result>;
  /**
   * The same as `run` for a stream, whose last item tells the tokens: the event comes before that item. One that breaks,
   * or whose client leaves or stalls, is an `error`.
   */
  stream<Item>(
    request: AccountedRequest,
    items: AsyncIterable<Item>,
    tokensOfLast: (item: Item) => number | null,
  ): AsyncIterable<Item>;
  /** The same for a list, whose event comes after its last item and before the end of the answer. */
  list<Item>(request: AccountedRequest, items: AsyncIterable<Item>, tokens: number): AsyncIterable<Item>;
}

export function createAccounting(usage: Usage): Accounting {
  const appendSuccess = (request: AccountedRequest, tokens: number) =>
    usage.append(usageEvent({ ...request, status: 'success', tokens }));

  const appendFailure = async (request: AccountedRequest, error: unknown) => {
    if (error instanceof AppError && error.isCallersFault) return;
    const code = codeOf(error, request.signal);
    const metadata = code === null ? request.metadata : { ...request.metadata, error: code };
    try {
      await usage.append(usageEvent({ ...request, metadata, status: 'error', tokens: 0 }));
    } catch (cause) {
      // Redis is away too: the caller gets the first error, with this one attached to it.
      if (error instanceof Error) error.cause ??= cause;
    }
  };

  const endList = async (request: AccountedRequest, end: StreamEnd, tokens: number) => {
    if (end.type === 'done') await appendSuccess(request, tokens);
    else await appendFailure(request, errorOf(end));
  };

  const begin: Accounting['begin'] = async (request, action) => {
    try {
      return await action();
    } catch (error) {
      await appendFailure(request, error);
      throw error;
    }
  };

  return {
    begin,
    run: async (request, action) => {
      const done = await begin(request, action);
      await appendSuccess(request, done.tokens);
      return done.result;
    },
    stream: (request, items, tokensOfLast) => {
      let isCounted = false;
      async function* counted() {
        for await (const item of items) {
          const tokens = tokensOfLast(item);
          if (tokens !== null) {
            isCounted = true;
            await appendSuccess(request, tokens);
          }
          yield item;
        }
        if (!isCounted) throw new Error('the stream ended without its last item');
      }
      return onStreamEnd(counted(), async (end) => {
        if (!isCounted) await appendFailure(request, errorOf(end));
      });
    },
    list: (request, items, tokens) => onStreamEnd(items, (end) => endList(request, end, tokens)),
  };
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

/** Why nobody takes the answer any more; null when that is not the reason. */
function codeOf(error: unknown, signal: AbortSignal | undefined): AbandonedError['code'] | null {
  const reason: unknown = signal?.aborted === true ? signal.reason : error;
  return reason instanceof AbandonedError ? reason.code : null;
}
