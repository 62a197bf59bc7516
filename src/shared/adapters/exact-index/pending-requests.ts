import { UnavailableError } from '../../errors.js';
import type { Candidate, DataState } from '../../ports.js';
import type { Answer } from './protocol.js';

/** An answer as the asking thread's callers get it. */
export type Reply =
  | { readonly type: 'candidates'; readonly candidates: Candidate[]; readonly state: DataState | null }
  | Exclude<Answer, { type: 'candidates' }>;

/** The end of a request: calling it returns the answer or throws. */
export type Outcome = () => Reply;

/** The requests that wait for the thread's answer, by their number. */
export interface PendingRequests {
  /**
   * Sends a request and waits until it is settled or the signal aborts.
   * @throws the error that its outcome throws; the signal's reason when it aborts
   */
  send(
    transport: { readonly post: (id: number) => void; readonly cancel: (id: number) => void },
    signal?: AbortSignal,
  ): Promise<Reply>;
  /** Ends a request. Does nothing when nobody waits for it any more. */
  settle(id: number, outcome: () => Outcome): void;
  failAll(): void;
}

export function createPendingRequests(): PendingRequests {
  const pending = new Map<number, (outcome: Outcome) => void>();
  let lastId = 0;
  return {
    send: async ({ post, cancel }, signal) => {
      const id = (lastId += 1);
      let abort: (() => void) | undefined;
      const outcome = new Promise<Outcome>((resolve) => {
        pending.set(id, resolve);
        abort = () => {
          cancel(id);
          resolve(() => {
            signal?.throwIfAborted();
            throw new UnavailableError('index');
          });
        };
        signal?.addEventListener('abort', abort, { once: true });
        post(id);
      });
      try {
        return (await outcome)();
      } finally {
        pending.delete(id);
        if (abort) signal?.removeEventListener('abort', abort);
      }
    },
    settle: (id, outcome) => {
      // The outcome is made at once, since the next message may drop memory that it refers to.
      pending.get(id)?.(outcome());
    },
    failAll: () => {
      for (const settle of pending.values()) {
        settle(() => {
          throw new UnavailableError('index');
        });
      }
    },
  };
}
