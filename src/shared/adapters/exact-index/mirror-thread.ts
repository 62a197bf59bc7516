import { Worker } from 'node:worker_threads';
import { UnavailableError } from '../../errors.js';
import type { Answer, Message, Question, Request } from './protocol.js';

export interface MirrorThread {
  readonly state: 'loading' | 'ready';
  /** @throws UnavailableError when the mirror cannot answer whole; the signal's reason when it aborts */
  ask(question: Question, signal?: AbortSignal): Promise<Answer>;
  close(): Promise<void>;
}

export type OnProblem = (message: string, fields: Readonly<Record<string, unknown>>) => void;

type Settle = (outcome: { readonly answer: Answer } | { readonly error: unknown }) => void;

const RESTART_AFTER_MS = 1_000;

/** The asking side of the mirror's thread; a thread that dies is started anew. */
export function startMirrorThread({
  redisUrl,
  onProblem,
}: {
  redisUrl: string;
  onProblem: OnProblem;
}): MirrorThread {
  const pending = new Map<number, Settle>();
  let state: 'loading' | 'ready' = 'loading';
  let lastId = 0;
  let isClosed = false;
  let restart: NodeJS.Timeout | undefined;

  const receive = (message: Message) => {
    switch (message.type) {
      case 'state':
        state = message.state;
        return;
      case 'problem':
        onProblem(message.message, message.fields);
        return;
      case 'answer':
        pending.get(message.id)?.({ answer: message.answer });
        return;
      case 'failure':
        pending.get(message.id)?.({ error: toError(message) });
    }
  };

  const start = (): Worker => {
    const worker = new Worker(new URL('./thread.js', import.meta.url), { workerData: { redisUrl } });
    worker.on('message', receive);
    worker.on('error', (error) => {
      onProblem('the index thread has died', { level: 'error', error: String(error) });
    });
    worker.on('exit', () => {
      state = 'loading';
      const error = new UnavailableError('index');
      for (const settle of [...pending.values()]) settle({ error });
      if (isClosed) return;
      restart = setTimeout(() => {
        thread = start();
      }, RESTART_AFTER_MS);
    });
    return worker;
  };
  let thread = start();

  const post = (request: Request) => {
    thread.postMessage(request);
  };

  return {
    get state() {
      return state;
    },
    ask: (question, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        if (isClosed) throw new UnavailableError('index');
        const id = (lastId += 1);
        const abort = () => {
          post({ cancelled: id });
          pending.get(id)?.({ error: signal?.reason });
        };
        pending.set(id, (outcome) => {
          pending.delete(id);
          signal?.removeEventListener('abort', abort);
          if ('answer' in outcome) resolve(outcome.answer);
          else reject(outcome.error);
        });
        signal?.addEventListener('abort', abort, { once: true });
        post({ id, question });
      }),
    close: async () => {
      isClosed = true;
      clearTimeout(restart);
      await thread.terminate();
    },
  };
}

function toError({ isUnavailable, reason }: Extract<Message, { type: 'failure' }>): Error {
  return isUnavailable ? new UnavailableError('index', { cause: new Error(reason) }) : new Error(reason);
}
