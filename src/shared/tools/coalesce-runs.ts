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
