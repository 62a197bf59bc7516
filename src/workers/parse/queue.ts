interface Taker {
  /** Done in no time: it may have the spare. */
  readonly isQuick: boolean;
  readonly signal: AbortSignal | undefined;
}

/**
 * Lends out `items`, each to one taker at a time, first come first served. Quick takers need not wait for slow ones:
 * while those hold all items, the quick get the spare.
 */
export function createQueue<T>(items: readonly T[], spare: T) {
  const idle = [...items];
  const waiting: { readonly isQuick: boolean; readonly resolve: (item: T | undefined) => void }[] = [];
  let slow = 0;
  let isSpareIdle = true;

  const serve = (): void => {
    for (;;) {
      const isSpareOpen = isSpareIdle && slow === items.length;
      const place = waiting.findIndex(({ isQuick }) => idle.length > 0 || (isQuick && isSpareOpen));
      const [next] = place < 0 ? [] : waiting.splice(place, 1);
      if (!next) return;
      const item = idle.pop() ?? spare;
      if (item === spare) isSpareIdle = false;
      else if (!next.isQuick) slow += 1;
      next.resolve(item);
    }
  };

  return {
    /** @throws the signal's reason when it aborts the wait */
    async take({ isQuick, signal }: Taker): Promise<T> {
      let abort = (): void => undefined;
      const item = await new Promise<T | undefined>((resolve) => {
        const entry = { isQuick, resolve };
        waiting.push(entry);
        abort = () => {
          const place = waiting.indexOf(entry);
          if (place < 0) return;
          waiting.splice(place, 1);
          resolve(undefined);
        };
        signal?.addEventListener('abort', abort, { once: true });
        serve();
      });
      signal?.removeEventListener('abort', abort);
      if (item !== undefined) return item;
      signal?.throwIfAborted();
      throw new Error('aborted');
    },
    giveBack(item: T, { isQuick }: Pick<Taker, 'isQuick'>): void {
      if (item === spare) isSpareIdle = true;
      else {
        idle.push(item);
        if (!isQuick) slow -= 1;
      }
      serve();
    },
  };
}
