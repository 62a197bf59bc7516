/** Lends out `items`, each to one taker at a time, first come first served. */
export function createQueue<T>(items: readonly T[]) {
  const idle = [...items];
  const waiting: ((item: T) => void)[] = [];
  return {
    /** @throws the signal's reason when it aborts the wait */
    async take(signal: AbortSignal | undefined): Promise<T> {
      const free = idle.pop();
      if (free !== undefined) return free;
      let abort = (): void => undefined;
      const item = await new Promise<T | undefined>((resolve) => {
        waiting.push(resolve);
        abort = () => {
          const place = waiting.indexOf(resolve);
          if (place < 0) return;
          waiting.splice(place, 1);
          resolve(undefined);
        };
        signal?.addEventListener('abort', abort, { once: true });
      });
      signal?.removeEventListener('abort', abort);
      if (item !== undefined) return item;
      signal?.throwIfAborted();
      throw new Error('aborted');
    },
    giveBack(item: T): void {
      const next = waiting.shift();
      if (next) next(item);
      else idle.push(item);
    },
  };
}
