import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { createSlices } from '../../../index/index.js';
import { vectorSetSchema } from '../../data-set/stored-vectors.js';
import { createAnswerQuestion, messageOf, NotServing, createQuietTimes } from './answer-question.js';
import { createFollower } from './mirror/follower.js';
import { coalesceRuns } from '../../tools/coalesce-runs.js';
import { HELD_VECTORS, loadMirror } from './mirror/mirror.js';
import { createMirrorClient, createPresence } from './mirror/client.js';
import type { Answer, Message, Request } from './protocol.js';

/* The thread that mirrors the data, follows its changes and answers. The asking thread's event loop does none of that. */

const SYNC_INTERVAL_MS = 1_000;
const RETRY_INTERVAL_MS = 100;
const CHUNKS_TO_WARN_AT = 100_000;

const port = parentPort;
if (!port) throw new Error('this module runs in a worker thread only');
const { redisUrl, vectors, held } = z
  .object({ redisUrl: z.string(), vectors: vectorSetSchema, held: z.enum(HELD_VECTORS) })
  .parse(workerData);

const send = (message: Message, transfer: ArrayBuffer[] = []) => {
  port.postMessage(message, transfer);
};
const report = (message: string, fields: Readonly<Record<string, unknown>>) => {
  send({ type: 'problem', message, fields });
};

/**
 * `loaded` is ready once everything is loaded, and `state` once everything was in postings as well, so that searches are
 * fast.
 */
let loaded: 'loading' | 'ready' = 'loading';
let state: 'loading' | 'ready' = 'loading';
let isCompacting = false;
let runId: string | null = null;
/** True if Redis is away; null before the first connection. */
let isAway: boolean | null = null;
let isFailing = false;
let hasWarned = false;

const slices = createSlices();
const createMirror = await loadMirror();
const mirror = createMirror({
  held,
  onDirty: ({ isFull }) => {
    if (state === 'ready' || isFull) compact();
  },
});
const client = createMirrorClient({
  url: redisUrl,
  vectors: held === 'stored' ? vectors : null,
  onConnect: (connectedTo) => {
    isAway = false;
    // Another server process may have started from an older state of the data. Without a run id nothing is certain.
    if (runId !== null && (connectedTo !== runId || connectedTo === '')) follower.startOver();
    runId = connectedTo;
  },
  onError: (error) => {
    if (isAway !== true)
      report('the index has no connection to Redis', { level: 'warn', error: error.message });
    isAway = true;
  },
});
const presence = createPresence(client);
const follower = createFollower({
  client,
  mirror,
  report,
  onWork: () => {
    freshness.wait().catch(reportFailure);
  },
  onPrepared: (generation) => {
    presence.note(generation);
    if (state === 'ready') presence.tell().catch(reportFailure);
  },
  onState: (next) => {
    loaded = next;
    if (next === 'loading') show(next);
    else compact();
  },
});
const freshness = coalesceRuns(() => follower.sync());
const answerQuestion = createAnswerQuestion({
  mirror,
  follower,
  slices,
  catchUp: () => freshness.wait(),
  isQuiet: createQuietTimes(() => mirror.changes),
  runId: () => runId,
  requireLoaded: () => {
    if (state === 'loading') throw new NotServing('the index is loading');
  },
});

function show(next: 'loading' | 'ready'): void {
  if (next !== state) send({ type: 'state', state: next });
  state = next;
}

/** Puts the loaded chunks into postings, a slice at a time: whole segments while Redis is read, and the rest after that. */
function compact(): void {
  if (isCompacting) return;
  isCompacting = true;
  let isRest = false;
  slices
    .run('', (isTimeLeft) => {
      isRest = loaded === 'ready';
      return isRest ? mirror.compact(isTimeLeft) : mirror.flush(isTimeLeft);
    })
    .finally(() => {
      isCompacting = false;
      if (loaded !== 'ready') return;
      if (isRest) show('ready');
      else compact();
    })
    .catch(reportFailure);
}

/** The requests that somebody waits for; cancelled ones are taken out. */
const waiting = new Set<number>();

port.on('message', (request: Request) => {
  if ('cancelled' in request) waiting.delete(request.cancelled);
  else void serve(request);
});

async function serve(request: Exclude<Request, { cancelled: number }>): Promise<void> {
  const { id } = request;
  waiting.add(id);
  try {
    const answer =
      'question' in request
        ? await answerQuestion({ ...request, isWanted: () => waiting.has(id) })
        : await untilLoaded(request.missing);
    if (answer) send({ type: 'answer', id, answer }, transferred(answer));
  } catch (error) {
    if (!waiting.has(id)) return;
    const isUnavailable = error instanceof NotServing;
    send({ type: 'failure', id, isUnavailable, reason: messageOf(error) });
  } finally {
    waiting.delete(id);
  }
}

async function untilLoaded(missing: readonly number[]): Promise<Answer> {
  await Promise.all(missing.map(async (number) => follower.missing.get(number)?.over));
  return { type: 'loaded' };
}

/** Returns the memory of an answer that is handed over instead of copied. */
function transferred(answer: Answer): ArrayBuffer[] {
  switch (answer.type) {
    case 'candidates':
      return [answer.found.numbers.buffer, answer.found.scores.buffer];
    case 'scores':
      return [answer.scores.buffer];
    default:
      return [];
  }
}

function warnOfSize(): void {
  if (hasWarned || held !== 'stored' || mirror.chunkCount <= CHUNKS_TO_WARN_AT) return;
  hasWarned = true;
  report('the exact index is meant for up to 100,000 chunks: consider index = "query-engine"', {
    level: 'warn',
    chunks: mirror.chunkCount,
  });
}

/** Reports once that Redis answers, but not with the data that is needed, until it works again. */
function reportFailure(error: unknown): void {
  if (isAway === false && !isFailing)
    report('the index cannot follow the changes', { level: 'error', error: messageOf(error) });
  isFailing = true;
}

// The mirror is also synced in the background, so that a search finds little left to read.
for (;;) {
  try {
    await freshness.wait();
    await presence.tell();
    isFailing = false;
    warnOfSize();
    await sleep(SYNC_INTERVAL_MS);
  } catch (error) {
    reportFailure(error);
    await sleep(RETRY_INTERVAL_MS);
  }
}
