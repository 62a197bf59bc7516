/** The interval at which a turn that has lasted long enough looks for others who wait. */
const LOOK_MILLISECONDS = 200;

interface GivingWayOptions {
  /** The least time of the turn, whoever waits. */
  readonly milliseconds: number;
  /** Tells whether another caller waits who goes first. */
  readonly isWanted: () => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A signal that aborts when the caller's signal does, or when a turn has to give way to another who waits. */
export interface GivingWay {
  readonly signal: AbortSignal;
  /** True if it aborted for another. */
  readonly gaveWay: boolean;
  /** Ends the watch, and releases the caller's signal. */
  clear(): void;
}

/** The reason for the end of a turn that had to give way. */
export class GaveWayError extends Error {
  override readonly name = 'GaveWayError';

  constructor() {
    super('gave way to another');
  }
}

/** Watches a turn that has begun. */
export function createGivingWay({ milliseconds, isWanted, signal }: GivingWayOptions): GivingWay {
  const controller = new AbortController();
  let gaveWay = false;
  const look = () => {
    if (isWanted()) {
      gaveWay = true;
      controller.abort(new GaveWayError());
    } else timer = setTimeout(look, LOOK_MILLISECONDS);
  };
  const abort = () => {
    clearTimeout(timer);
    controller.abort(signal?.reason);
  };
  let timer = setTimeout(look, milliseconds);
  if (signal?.aborted === true) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    get gaveWay() {
      return gaveWay;
    },
    clear: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}
