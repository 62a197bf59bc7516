import { Worker } from 'node:worker_threads';
import { UnavailableError } from '../../errors.js';
import type { VectorSet } from '../../vectors.js';
import type { Candidate } from '../../ports.js';
import { unpackCandidates, type Slabs } from './packed-candidates.js';
import type { Answer, Message, Question, Request } from './protocol.js';

/** An answer as it leaves the thread's asking side. */
export type Reply =
  { readonly type: 'search'; readonly candidates: Candidate[] } | Exclude<Answer, { type: 'search' }>;

export interface MirrorThread {
  readonly state: 'loading' | 'ready';
  /** @throws UnavailableError when the mirror cannot answer whole; the signal's reason when it aborts */
  ask(question: Question, signal?: AbortSignal): Promise<Reply>;
  close(): Promise<void>;
}

export type OnProblem = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/** What a request ends with: calling it answers or throws. */
type Outcome = () => Reply;

const RESTART_AFTER_MS = 1_000;
/** Half of V8's own choice: what is loaded stays, so that more room for what does not only takes memory. */
const YOUNG_MEGABYTES = 24;

/** The asking side of the mirror's thread; a thread that dies is started anew. */
export function startMirrorThread({
  redisUrl,
  vectors,
  onProblem,
}: {
  redisUrl: string;
  vectors: VectorSet;
  onProblem: OnProblem;
}): MirrorThread {
  const pending = new Map<number, (outcome: Outcome) => void>();
  let state: 'loading' | 'ready' = 'loading';
  let lastId = 0;
  let isClosed = false;
  let isRunning = true;
  let restart: NodeJS.Timeout | undefined;

  /** Where the thread keeps terms; answers refer to it. */
  const slabs = new Map<number, SharedArrayBuffer>();

  const receive = (message: Message) => {
    switch (message.type) {
      case 'slab':
        slabs.set(message.slab, message.bytes);
        return;
      case 'slabs-dropped':
        for (const slab of slabs.keys()) if (slab < message.below) slabs.delete(slab);
        return;
      case 'state':
        state = message.state;
        return;
      case 'problem':
        onProblem(message.message, message.fields);
        return;
      case 'answer':
        // At once: slabs that it refers to may be dropped with the next message.
        pending.get(message.id)?.(unpack(message.answer, slabs));
        return;
      case 'failure':
        pending.get(message.id)?.(() => {
          throw toError(message);
        });
    }
  };

  const start = (): Worker => {
    const worker = new Worker(new URL('./thread.js', import.meta.url), {
      workerData: { redisUrl, vectors },
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
    });
    worker.on('message', receive);
    worker.on('error', (error) => {
      onProblem('the index thread has died', { level: 'error', error: String(error) });
    });
    worker.on('exit', () => {
      isRunning = false;
      state = 'loading';
      slabs.clear();
      for (const settle of pending.values()) {
        settle(() => {
          throw new UnavailableError('index');
        });
      }
      if (isClosed) return;
      restart = setTimeout(() => {
        thread = start();
        isRunning = true;
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
    ask: async (question, signal) => {
      signal?.throwIfAborted();
      if (!isRunning) throw new UnavailableError('index');
      const id = (lastId += 1);
      let abort: (() => void) | undefined;
      const outcome = new Promise<Outcome>((resolve) => {
        pending.set(id, resolve);
        abort = () => {
          post({ cancelled: id });
          resolve(() => {
            signal?.throwIfAborted();
            throw new UnavailableError('index');
          });
        };
        signal?.addEventListener('abort', abort, { once: true });
        post({ id, question });
      });
      try {
        return (await outcome)();
      } finally {
        pending.delete(id);
        if (abort) signal?.removeEventListener('abort', abort);
      }
    },
    close: async () => {
      isClosed = true;
      isRunning = false;
      clearTimeout(restart);
      await thread.terminate();
    },
  };
}

function unpack(answer: Answer, slabs: Slabs): Outcome {
  if (answer.type !== 'search') return () => answer;
  try {
    const candidates = unpackCandidates(answer.found, slabs);
    return () => ({ type: 'search', candidates });
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function toError({ isUnavailable, reason }: Extract<Message, { type: 'failure' }>): Error {
  return isUnavailable ? new UnavailableError('index', { cause: new Error(reason) }) : new Error(reason);
}
