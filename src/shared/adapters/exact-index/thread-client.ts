import { Worker } from 'node:worker_threads';
import { unpackCandidates } from '../../../index/index.js';
import type { HeldVectors } from './mirror/mirror.js';
import type { VectorSet } from '../../data-set/stored-vectors.js';
import { UnavailableError } from '../../errors.js';
import type { CallOptions, OnProblem } from '../../ports.js';
import { createPendingRequests, type Outcome, type PendingRequests, type Reply } from './pending-requests.js';
import type { Answer, Message, Question, Request } from './protocol.js';

export interface MirrorThread {
  readonly state: 'loading' | 'ready';
  /** Both throw UnavailableError when the mirror cannot give a whole answer, and the signal's reason when it aborts. */
  ask(question: Question, options: { readonly hasWaited: boolean } & CallOptions): Promise<Reply>;
  /** Waits for chunks that were `missing` in a reply. */
  untilLoaded(missing: readonly number[], options: CallOptions): Promise<Reply>;
  close(): Promise<void>;
}

const RESTART_AFTER_MS = 1_000;
/** Half of V8's own choice. What is loaded stays, so that a larger young generation would only take memory. */
const YOUNG_MEGABYTES = 24;

interface ThreadOptions {
  readonly redisUrl: string;
  readonly vectors: VectorSet;
  readonly held: HeldVectors;
  readonly onProblem: OnProblem;
}

/** The state of the thread, as far as the asking side knows it. */
interface Asking {
  state: 'loading' | 'ready';
  readonly pending: PendingRequests;
}

/** Starts the mirror's thread, and starts it again when it dies. What is returned is used by the asking thread. */
export function startMirrorThread(options: ThreadOptions): MirrorThread {
  const asking: Asking = { state: 'loading', pending: createPendingRequests() };
  /** Null after a thread has died and before the next one starts, and after `close`. */
  let running: Worker | null = null;
  let isClosed = false;
  let restart: NodeJS.Timeout | undefined;

  const start = () => {
    running = startWorker(options, {
      onMessage: (message) => receive(message, asking, options.onProblem),
      onExit: () => {
        running = null;
        forgetThread(asking);
        if (!isClosed) restart = setTimeout(start, RESTART_AFTER_MS);
      },
    });
  };
  const post = (request: Request) => running?.postMessage(request);
  const send = async (makeRequest: (id: number) => Request, signal: AbortSignal | undefined) => {
    signal?.throwIfAborted();
    if (!running || isClosed) throw new UnavailableError('index');
    const transport = {
      post: (id: number) => post(makeRequest(id)),
      cancel: (id: number) => post({ cancelled: id }),
    };
    return asking.pending.send(transport, signal);
  };
  start();

  return {
    get state() {
      return asking.state;
    },
    ask: (question, { hasWaited, signal }) => send((id) => ({ id, question, hasWaited }), signal),
    untilLoaded: (missing, { signal }) => send((id) => ({ id, missing }), signal),
    close: async () => {
      isClosed = true;
      clearTimeout(restart);
      await running?.terminate();
    },
  };
}

/** Rejects the requests that wait for a thread that has ended. */
function forgetThread(asking: Asking): void {
  asking.state = 'loading';
  asking.pending.failAll();
}

function startWorker(
  { redisUrl, vectors, held, onProblem }: ThreadOptions,
  { onMessage, onExit }: { readonly onMessage: (message: Message) => void; readonly onExit: () => void },
): Worker {
  const worker = new Worker(new URL('./thread.js', import.meta.url), {
    workerData: { redisUrl, vectors, held },
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
  });
  worker.on('message', onMessage);
  worker.on('error', (error) => {
    onProblem('the index thread has died', { level: 'error', error: String(error) });
  });
  worker.on('exit', onExit);
  return worker;
}

function receive(message: Message, asking: Asking, onProblem: OnProblem): void {
  const { pending } = asking;
  switch (message.type) {
    case 'state':
      asking.state = message.state;
      return;
    case 'problem':
      onProblem(message.message, message.fields);
      return;
    case 'answer':
      pending.settle(message.id, () => unpack(message.answer));
      return;
    case 'failure':
      pending.settle(message.id, () => () => {
        throw toError(message);
      });
  }
}

function unpack(answer: Answer): Outcome {
  if (answer.type !== 'candidates') return () => answer;
  try {
    const candidates = unpackCandidates(answer.found);
    return () => ({ type: 'candidates', candidates, state: answer.state });
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function toError({ isUnavailable, reason }: Extract<Message, { type: 'failure' }>): Error {
  return isUnavailable ? new UnavailableError('index', { cause: new Error(reason) }) : new Error(reason);
}
