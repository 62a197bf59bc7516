import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Calls `read` only when it has answered before, so that a disk that does not answer keeps one thread waiting and not all
 * of them. Callers get `otherwise` after a while.
 */
export function askOneAtATime<Result>(
  read: () => Promise<Result>,
  { milliseconds, otherwise }: { readonly milliseconds: number; readonly otherwise: Result },
): () => Promise<Result> {
  let pending: Promise<Result> | null = null;
  return () => {
    pending ??= read().finally(() => {
      pending = null;
    });
    return Promise.race([pending, sleep(milliseconds, otherwise, { ref: false })]);
  };
}
