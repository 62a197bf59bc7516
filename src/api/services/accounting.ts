import type { Metadata } from '../../shared/document.js';
import { AppError } from '../../shared/errors.js';
import { usageEvent, type Operation, type Usage } from '../../shared/usage.js';

export interface AccountedRequest {
  readonly operation: Operation;
  readonly userId: string;
  readonly startedAtMs: number;
  /** What was asked, never what documents hold. */
  readonly metadata: Metadata;
}

export interface Accounted<Result> {
  readonly result: Result;
  readonly tokens: number;
}

export interface Accounting {
  /**
   * Runs an operation and appends its one usage event before its answer is sent: `error` when it failed on our side;
   * what the caller got wrong (4xx) leaves none.
   */
  run<Result>(request: AccountedRequest, action: () => Promise<Accounted<Result>>): Promise<Result>;
  /** The first part of an operation whose event is written by its last step: an event only when it fails here. */
  begin<Result>(request: AccountedRequest, action: () => Promise<Result>): Promise<Result>;
  /** The same as `run` for a stream: the event comes before its last item, or when it breaks. */
  stream<Item>(
    request: AccountedRequest,
    items: AsyncIterable<Item>,
    tokensOfLast: (item: Item) => number | null,
  ): AsyncIterable<Item>;
}

export function createAccounting(usage: Usage): Accounting {
  const append = (request: AccountedRequest, status: 'success' | 'error', tokens: number) =>
    usage.append(usageEvent({ ...request, status, tokens }));

  const appendFailure = async (request: AccountedRequest, error: unknown) => {
    if (error instanceof AppError && error.status < 500) return;
    try {
      await append(request, 'error', 0);
    } catch (cause) {
      // Redis is away too: the caller gets the first error, with this one attached to it.
      if (error instanceof Error) error.cause ??= cause;
    }
  };

  return {
    run: async (request, action) => {
      let done;
      try {
        done = await action();
      } catch (error) {
        await appendFailure(request, error);
        throw error;
      }
      await append(request, 'success', done.tokens);
      return done.result;
    },
    begin: async (request, action) => {
      try {
        return await action();
      } catch (error) {
        await appendFailure(request, error);
        throw error;
      }
    },
    async *stream(request, items, tokensOfLast) {
      let isCounted = false;
      try {
        for await (const item of items) {
          const tokens = tokensOfLast(item);
          if (tokens !== null) {
            isCounted = true;
            await append(request, 'success', tokens);
          }
          yield item;
        }
      } catch (error) {
        if (!isCounted) await appendFailure(request, error);
        throw error;
      }
    },
  };
}
