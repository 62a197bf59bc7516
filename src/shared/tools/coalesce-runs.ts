/** Shares runs of a task among callers who each need a run that started after their call. */
export interface CoalescedRuns {
  /** Resolves when a run that started after this call has ended. */
  wait(): Promise<void>;
}

export function coalesceRuns(work: () => Promise<void>): CoalescedRuns {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  const start = (): Promise<void> => {
    next = null;
    const run = work().finally(() => {
      if (running === run) running = null;
    });
    running = run;
    return run;
  };
  return {
    wait: () => {
      if (!running) return start();
      next ??= running.then(start, start);
      return next;
    },
  };
}

/** Calls `read` at most once in `milliseconds`; callers in between share its result, even while it is pending. */
export function shareResult<Result>(
  milliseconds: number,
  read: () => Promise<Result>,
): () => Promise<Result> {
  let last: { readonly at: number; readonly result: Promise<Result> } | null = null;
  return () => {
    const now = performance.now();
    if (!last || now - last.at >= milliseconds) last = { at: now, result: read() };
    return last.result;
  };
}

/**
 * Loads a seldom needed part of a process when it is first asked for; all calls share the result. A load that has failed is
 * repeated by the next call.
 */
export function loadOnce<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | null = null;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
}
