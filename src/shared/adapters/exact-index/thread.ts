import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { vectorSetSchema } from '../../data-set/vectors.js';
import { createFollower } from './mirror/follower.js';
import { createFreshness } from './mirror/freshness.js';
import { createMirror, type Mirror } from './mirror/mirror.js';
import { createMirrorClient } from './mirror/client.js';
import type { Answer, Message, Question, Request } from './protocol.js';
import { loadKernel } from './scan/kernel.js';
import type { Mask } from './scan/working-mask.js';

/** The thread that mirrors the data, follows its changes and scans. The asking thread's event loop does none of that. */
const SYNC_INTERVAL_MS = 1_000;
const RETRY_INTERVAL_MS = 100;
const MAX_WAIT_MS = 5_000;
const CHUNKS_TO_WARN_AT = 100_000;

const port = parentPort;
if (!port) throw new Error('this module runs in a worker thread only');
const { redisUrl, vectors } = z.object({ redisUrl: z.string(), vectors: vectorSetSchema }).parse(workerData);

const send = (message: Message, transfer: ArrayBuffer[] = []) => {
  port.postMessage(message, transfer);
};
const report = (message: string, fields: Readonly<Record<string, unknown>>) => {
  send({ type: 'problem', message, fields });
};

let state: 'loading' | 'ready' = 'loading';
let runId: string | null = null;
/** Whether Redis is away; null before the first connection. */
let isAway: boolean | null = null;
let isFailing = false;
let hasWarned = false;

const mirror = createMirror(await loadKernel(), {
  onSlab: (slab, bytes) => {
    send({ type: 'slab', slab, bytes });
  },
  onSlabsDropped: (below) => {
    send({ type: 'slabs-dropped', below });
  },
});
const client = createMirrorClient({
  url: redisUrl,
  vectors,
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
const follower = createFollower({
  client,
  mirror,
  report,
  onState: (next) => {
    if (next !== state) send({ type: 'state', state: next });
    state = next;
  },
});
const freshness = createFreshness(() => follower.sync());

/** The requests that somebody waits for; cancelled ones are taken out. */
const waiting = new Set<number>();

port.on('message', (request: Request) => {
  if ('cancelled' in request) waiting.delete(request.cancelled);
  else void serve(request);
});

async function serve({ id, question }: Extract<Request, { question: Question }>): Promise<void> {
  waiting.add(id);
  try {
    await serveLoaded(id, question);
  } catch (error) {
    if (!waiting.has(id)) return;
    const isUnavailable = error instanceof NotServing;
    send({ type: 'failure', id, isUnavailable, reason: messageOf(error) });
  } finally {
    waiting.delete(id);
  }
}

/** Thrown for what passes by itself: the index is loading, or Redis does not tell of its changes. */
class NotServing extends Error {}

async function serveLoaded(id: number, question: Question): Promise<void> {
  requireLoaded();
  await withinDeadline(freshness.wait()).catch((error: unknown) => {
    throw new NotServing(messageOf(error), { cause: error });
  });
  const readMask = await mirror.prepare(question, () => waiting.has(id));
  if (!readMask) return;
  // The mirror may have started over while the mask was computed.
  requireLoaded();
  const answer = answerFrom(mirror, question, readMask());
  send({ type: 'answer', id, answer }, answer.type === 'search' ? [answer.found.buffer] : []);
}

function requireLoaded(): void {
  if (state === 'loading') throw new NotServing('the index is loading');
}

function answerFrom(from: Mirror, question: Question, mask: Mask): Answer {
  switch (question.type) {
    case 'search':
      return { type: 'search', found: from.search({ ...question, mask }) };
    case 'terms':
      return { type: 'search', found: from.searchTerms({ ...question, mask }) };
    case 'list':
      return { type: 'list', documentIds: from.list({ ...question, mask }) };
    case 'count':
      return { type: 'count', count: from.count({ mask }) };
  }
}

function withinDeadline(work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error('reading the changes takes too long'));
    }, MAX_WAIT_MS);
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function warnOfSize(): void {
  if (hasWarned || mirror.chunkCount <= CHUNKS_TO_WARN_AT) return;
  hasWarned = true;
  report('the exact index is meant for up to 100,000 chunks: consider index = "query-engine"', {
    level: 'warn',
    chunks: mirror.chunkCount,
  });
}

/** Reports once that Redis answers, but not with what is needed, until it works again. */
function reportFailure(error: unknown): void {
  if (isAway === false && !isFailing)
    report('the index cannot follow the changes', { level: 'error', error: messageOf(error) });
  isFailing = true;
}

// The mirror is also synced in the background, so that a search finds little left to read.
for (;;) {
  try {
    await freshness.wait();
    isFailing = false;
    warnOfSize();
    await sleep(SYNC_INTERVAL_MS);
  } catch (error) {
    reportFailure(error);
    await sleep(RETRY_INTERVAL_MS);
  }
}
