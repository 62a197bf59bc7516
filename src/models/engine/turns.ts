import { ModelError } from './model-error.js';

export interface TurnRequest {
  /** Whether somebody waits for the answer, so that it comes before work of the background. */
  readonly isUrgent: boolean;
  readonly signal: AbortSignal;
}

/** After this many urgent tasks that went before one of the background, that one goes. */
const MOST_OVERTAKING = 8;

/** Lets a limited number of tasks run at once, the urgent ones first, but not for ever, else in order. */
export interface Turns {
  readonly waiting: number;
  /**
   * Runs a task when it is its turn.
   * @throws ModelError `overloaded` when too many wait; the signal's reason when it aborts before the turn
   */
  take<Result>(request: TurnRequest, task: () => Promise<Result>): Promise<Result>;
}

interface Waiting {
  readonly isUrgent: boolean;
  readonly start: () => void;
}

interface TurnOptions {
  readonly atOnce: number;
  readonly maxWaiting: number;
  /** Tasks of the background that run at once; as many as there are places by default. */
  readonly background?: number;
}

export function createTurns({ atOnce, maxWaiting, background: most = atOnce }: TurnOptions): Turns {
  const queue: Waiting[] = [];
  let running = 0;
  let inBackground = 0;
  let overtaking = 0;

  const startNext = () => {
    if (running >= atOnce) return;
    const background = inBackground < most ? queue.findIndex(({ isUrgent }) => !isUrgent) : -1;
    const urgent = queue.findIndex(({ isUrgent }) => isUrgent);
    const isUrgentNext = urgent >= 0 && (background < 0 || overtaking < MOST_OVERTAKING);
    const chosen = isUrgentNext ? urgent : background;
    if (chosen < 0) return;
    const [next] = queue.splice(chosen, 1);
    if (!next) return;
    overtaking = isUrgentNext && background >= 0 ? overtaking + 1 : 0;
    running += 1;
    if (!next.isUrgent) inBackground += 1;
    next.start();
  };

  return {
    get waiting() {
      return queue.length;
    },
    take: async (request, task) => {
      request.signal.throwIfAborted();
      if (queue.length >= maxWaiting)
        throw new ModelError('overloaded', 'too many requests wait for the model');
      const started = waitIn(queue, request);
      startNext();
      await started;
      try {
        return await task();
      } finally {
        running -= 1;
        if (!request.isUrgent) inBackground -= 1;
        startNext();
      }
    },
  };
}

/** Resolves when the request is started, and leaves the queue when its signal aborts before that. */
function waitIn(queue: Waiting[], { isUrgent, signal }: TurnRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      queue.splice(queue.indexOf(waiting), 1);
      // @NOTE the reason of a signal is whatever was given to abort(), and passed on as it is
      reject(signal.reason as Error);
    };
    const waiting: Waiting = {
      isUrgent,
      start: () => {
        signal.removeEventListener('abort', abort);
        resolve();
      },
    };
    queue.push(waiting);
    signal.addEventListener('abort', abort, { once: true });
  });
}
