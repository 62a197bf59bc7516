import { Worker } from 'node:worker_threads';
import { unpackCandidates } from '../../../index/index.js';
import { FIRST_VECTORS, type VectorSet } from '../../data-set/stored-vectors.js';
import { NEWEST_FIRST } from '../../documents/list-order.js';
import { UnavailableError } from '../../errors.js';
import { createTurns } from '../../fair-scheduling/turns.js';
import type {
  Index,
  OnProblem,
  VectorIndex,
  WordIndex,
  CallOptions,
  Candidate,
  DataState,
} from '../../ports.js';
import type { HeldVectors } from './mirror/mirror.js';
import type { Question, Answer, Message, Request } from './protocol.js';

/** Questions that the thread has before it when several callers ask: few, so that none waits long behind another's. */
const MAX_AT_ONCE = 4;
/** Questions of a caller who is alone: enough to keep the thread busy, few enough for the next caller. */
const MAX_ALONE = 32;
/** Questions of all callers that may wait in a process. */
const MAX_WAITING = 1_000;

/**
 * An index that scans all vectors, and reads the postings of words, in a thread that mirrors records, vectors and terms. It
 * is made at once, and `ready` when everything is loaded.
 *
 * @param options.held the source of vectors: loaded from Redis, made of terms with the builtin embedder, or none
 * @param options.onProblem called with lost data, lost connections and too much data; `fields.level` is `warn` or `error`
 */
export function createExactIndex({
  redisUrl,
  vectors = FIRST_VECTORS,
  held = 'stored',
  onProblem = () => undefined,
}: {
  readonly redisUrl: string;
  readonly vectors?: VectorSet;
  readonly held?: 'stored' | 'of-terms';
  readonly onProblem?: OnProblem;
}): Promise<Index> {
  const thread = startMirrorThread({ redisUrl, vectors, held, onProblem });
  const ask = createAskThread(thread);
  return Promise.resolve({
    name: 'exact',
    vectors: createVectorIndex(ask),
    words: createWordIndex(ask),
    list: async ({ name = null, order = NEWEST_FIRST, after = null, ...request }) => {
      const { principal, filter, skip, limit, signal } = request;
      const asked = { principal, filter, name, order, after, skip, limit };
      const answer = await ask({ type: 'list', ...asked }, signal);
      return answer.type === 'list' ? answer.page : mismatch();
    },
    count: async ({ principal, filter, name = null, signal }) => {
      const answer = await ask({ type: 'count', principal, filter, name }, signal);
      return answer.type === 'count' ? answer.count : mismatch();
    },
    state: () => Promise.resolve(thread.state),
    close: () => thread.close(),
  });
}

/**
 * Only the words of the same thread, beside an index that holds the vectors.
 *
 * @param options.onProblem is told of lost data and lost connections; `fields.level` is `warn` or `error`
 */
export function createPostings({
  redisUrl,
  onProblem,
}: {
  readonly redisUrl: string;
  readonly onProblem: OnProblem;
}): Pick<Index, 'words' | 'state' | 'close'> {
  const thread = startMirrorThread({ redisUrl, vectors: FIRST_VECTORS, held: 'none', onProblem });
  return {
    words: createWordIndex(createAskThread(thread)),
    state: () => Promise.resolve(thread.state),
    close: () => thread.close(),
  };
}

type Ask = (question: Question, signal: AbortSignal | undefined) => Promise<Reply>;

function createVectorIndex(ask: Ask): VectorIndex {
  return {
    search: async ({ vector, principal, filter, limit, signal }) => {
      // The copy is needed, since sending a view would send the whole buffer behind it.
      const question = { type: 'vectors', vector: vector.slice(), principal, filter, limit } as const;
      const answer = await ask(question, signal);
      return answer.type === 'candidates' ? answer.candidates : mismatch();
    },
    similarities: async ({ vector, principal, chunks, signal }) => {
      const question = { type: 'similarities', vector: vector.slice(), principal, chunks } as const;
      const answer = await ask(question, signal);
      return answer.type === 'scores' ? answer.scores : mismatch();
    },
  };
}

function createWordIndex(ask: Ask): WordIndex {
  return {
    search: async ({ query, principal, filter, minScore, limit, enough = limit, onUnconfirmed, signal }) => {
      const asked = { query, principal, filter, minScore, limit, enough };
      const answer = await ask(
        { type: 'words', ...asked, mayBeUnconfirmed: onUnconfirmed !== undefined },
        signal,
      );
      if (answer.type !== 'candidates') return mismatch();
      if (answer.state) onUnconfirmed?.(answer.state);
      return answer.candidates;
    },
    scores: async ({ query, principal, chunks, signal }) => {
      const answer = await ask({ type: 'word-scores', query, principal, chunks }, signal);
      return answer.type === 'scores' ? answer.scores : mismatch();
    },
  };
}

/**
 * Asks the thread, each question in its caller's turn. Who waits for chunks to be loaded takes no turn meanwhile, so that
 * others are answered, and then asks again. That a document is published in the meantime does not make them wait again.
 */
function createAskThread(thread: MirrorThread): Ask {
  const turns = createTurns(MAX_AT_ONCE, {
    maxAlone: MAX_ALONE,
    maxWaiting: MAX_WAITING,
    name: 'index',
  });
  return async (question, signal) => {
    const ask = (hasWaited: boolean) =>
      turns.run(() => thread.ask(question, { hasWaited, signal }), { by: question.principal.id, signal });
    const answer = await ask(false);
    if (answer.type !== 'missing') return answer;
    await thread.untilLoaded(answer.missing, { signal });
    return ask(true);
  };
}

function mismatch(): never {
  throw new Error('the index thread answered with another type than it was asked for');
}

interface MirrorThread {
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
function startMirrorThread(options: ThreadOptions): MirrorThread {
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

function unpack(answer: Answer): Settlement {
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

/** An answer as the asking thread's callers get it. */
type Reply =
  | { readonly type: 'candidates'; readonly candidates: Candidate[]; readonly state: DataState | null }
  | Exclude<Answer, { type: 'candidates' }>;

/** The end of a request: calling it returns the answer or throws. */
type Settlement = () => Reply;

/** The requests that wait for the thread's answer, by their number. */
interface PendingRequests {
  /**
   * Sends a request and waits until it is settled or the signal aborts.
   * @throws the error that its outcome throws; the signal's reason when it aborts
   */
  send(
    transport: { readonly post: (id: number) => void; readonly cancel: (id: number) => void },
    signal?: AbortSignal,
  ): Promise<Reply>;
  /** Ends a request. Does nothing when nobody waits for it any more. */
  settle(id: number, outcome: () => Settlement): void;
  failAll(): void;
}

function createPendingRequests(): PendingRequests {
  const pending = new Map<number, (outcome: Settlement) => void>();
  let lastId = 0;
  return {
    send: async ({ post, cancel }, signal) => {
      const id = (lastId += 1);
      let abort: (() => void) | undefined;
      const outcome = new Promise<Settlement>((resolve) => {
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
