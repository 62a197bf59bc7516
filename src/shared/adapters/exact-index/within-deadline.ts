const MAX_WAIT_MS = 5_000;

/** Thrown for causes that pass by themselves: the index is loading, or Redis does not tell of its changes. */
export class NotServing extends Error {}

/** @throws NotServing when the work fails or takes too long */
export function withinDeadline(work: Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new NotServing('reading the changes takes too long'));
    }, MAX_WAIT_MS);
    const fail = (error: unknown) => {
      reject(new NotServing(messageOf(error), { cause: error }));
    };
    work
      .then(() => {
        resolve();
      }, fail)
      .finally(() => {
        clearTimeout(timer);
      });
  });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
