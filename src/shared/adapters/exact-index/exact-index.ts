import { FIRST_VECTORS, type VectorSet } from '../../data-set/stored-vectors.js';
import { NEWEST_FIRST } from '../../documents/list-order.js';
import type { Index, OnProblem, VectorIndex, WordIndex } from '../../ports.js';
import { createTurns } from '../../fair-scheduling/turns.js';
import type { Reply } from './pending-requests.js';
import { startMirrorThread, type MirrorThread } from './thread-client.js';
import type { Question } from './protocol.js';

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
  const ask = createAskInTurn(thread);
  return Promise.resolve({
    name: 'exact',
    vectors: createVectorIndex(ask),
    words: createWordIndex(ask),
    list: async ({ name = null, order = NEWEST_FIRST, after = null, ...request }) => {
      const { callerId, filter, skip, limit, signal } = request;
      const asked = { callerId, filter, name, order, after, skip, limit };
      const answer = await ask({ type: 'list', ...asked }, signal);
      return answer.type === 'list' ? answer.page : mismatch();
    },
    count: async ({ callerId, filter, name = null, signal }) => {
      const answer = await ask({ type: 'count', callerId, filter, name }, signal);
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
    words: createWordIndex(createAskInTurn(thread)),
    state: () => Promise.resolve(thread.state),
    close: () => thread.close(),
  };
}

type Ask = (question: Question, signal: AbortSignal | undefined) => Promise<Reply>;

function createVectorIndex(ask: Ask): VectorIndex {
  return {
    search: async ({ vector, callerId, filter, limit, signal }) => {
      // The copy is needed, since sending a view would send the whole buffer behind it.
      const question = { type: 'vectors', vector: vector.slice(), callerId, filter, limit } as const;
      const answer = await ask(question, signal);
      return answer.type === 'candidates' ? answer.candidates : mismatch();
    },
    similarities: async ({ vector, callerId, chunks, signal }) => {
      const question = { type: 'similarities', vector: vector.slice(), callerId, chunks } as const;
      const answer = await ask(question, signal);
      return answer.type === 'scores' ? answer.scores : mismatch();
    },
  };
}

function createWordIndex(ask: Ask): WordIndex {
  return {
    search: async ({ query, callerId, filter, minScore, limit, enough = limit, onUnconfirmed, signal }) => {
      const asked = { query, callerId, filter, minScore, limit, enough };
      const answer = await ask(
        { type: 'words', ...asked, mayBeUnconfirmed: onUnconfirmed !== undefined },
        signal,
      );
      if (answer.type !== 'candidates') return mismatch();
      if (answer.state) onUnconfirmed?.(answer.state);
      return answer.candidates;
    },
    scores: async ({ query, callerId, chunks, signal }) => {
      const answer = await ask({ type: 'word-scores', query, callerId, chunks }, signal);
      return answer.type === 'scores' ? answer.scores : mismatch();
    },
  };
}

/**
 * Asks the thread, each question in its caller's turn. Who waits for chunks to be loaded takes no turn meanwhile, so that
 * others are answered, and then asks again. That a document is published in the meantime does not make them wait again.
 */
function createAskInTurn(thread: MirrorThread): Ask {
  const turns = createTurns(MAX_AT_ONCE, {
    maxAlone: MAX_ALONE,
    maxWaiting: MAX_WAITING,
    name: 'index',
  });
  return async (question, signal) => {
    const ask = (hasWaited: boolean) =>
      turns.run(() => thread.ask(question, { hasWaited, signal }), { by: question.callerId, signal });
    const answer = await ask(false);
    if (answer.type !== 'missing') return answer;
    await thread.untilLoaded(answer.missing, { signal });
    return ask(true);
  };
}

function mismatch(): never {
  throw new Error('the index thread answered with another type than it was asked for');
}
