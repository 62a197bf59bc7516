import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { canRead } from '../../access/access.js';
import { vectorSetSchema } from '../../data-set/stored-vectors.js';
import type { DataState } from '../../ports.js';
import { PAGE_SIZE } from './mirror/chunk-loading/chunk-load.js';
import { createFollower } from './mirror/follower.js';
import { coalesceRuns } from './mirror/coalesce-runs.js';
import { createMirror, HELD_VECTORS, type Mirror } from './mirror/mirror.js';
import { createMirrorClient } from './mirror/client.js';
import type { MissingChunks } from './mirror/chunk-loading/missing-chunks.js';
import { createPresence } from './mirror/presence.js';
import type { Answer, Message, Question, Request } from './protocol.js';
import { createQuietTimes } from './quiet-times.js';
import { loadKernels } from './kernels.js';
import { createSlices } from './scan/slices.js';
import type { Mask } from './scan/working-mask.js';
import { messageOf, NotServing, withinDeadline } from './within-deadline.js';

/** The thread that mirrors the data, follows its changes and scans. The asking thread's event loop does none of that. */
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

/** Whether everything is loaded; and whether everything was in postings at that time, too, so that searches are fast. */
let loaded: 'loading' | 'ready' = 'loading';
let state: 'loading' | 'ready' = 'loading';
let isTidying = false;
let runId: string | null = null;
/** Whether Redis is away; null before the first connection. */
let isAway: boolean | null = null;
let isFailing = false;
let hasWarned = false;

const slices = createSlices();
const mirror = createMirror({
  kernels: await loadKernels(),
  held,
  onUntidy: ({ isFull }) => {
    if (state === 'ready' || isFull) tidy();
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
    else tidy();
  },
});
const freshness = coalesceRuns(() => follower.sync());
/** While changes come, an unconfirmed answer would often have to be computed again. */
const isQuiet = createQuietTimes(() => mirror.changes);

function show(next: 'loading' | 'ready'): void {
  if (next !== state) send({ type: 'state', state: next });
  state = next;
}

/** Puts what was loaded into postings, a slice at a time: whole segments while Redis is read, and the rest after that. */
function tidy(): void {
  if (isTidying) return;
  isTidying = true;
  let isRest = false;
  slices
    .run('', (isTimeLeft) => {
      isRest = loaded === 'ready';
      return isRest ? mirror.tidy(isTimeLeft) : mirror.fill(isTimeLeft);
    })
    .finally(() => {
      isTidying = false;
      if (loaded !== 'ready') return;
      if (isRest) show('ready');
      else tidy();
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
    const answer = 'question' in request ? await answerTo(request) : await untilLoaded(request.missing);
    if (answer) send({ type: 'answer', id, answer }, transferred(answer));
  } catch (error) {
    if (!waiting.has(id)) return;
    const isUnavailable = error instanceof NotServing;
    send({ type: 'failure', id, isUnavailable, reason: messageOf(error) });
  } finally {
    waiting.delete(id);
  }
}

/** @returns null when nobody waits for the answer any more */
async function answerTo({
  id,
  question,
  hasWaited,
}: Extract<Request, { question: Question }>): Promise<Answer | null> {
  requireLoaded();
  if (question.type === 'words' && question.mayBeUnconfirmed && isQuiet()) {
    const readMask = await prepareMask(id, question);
    if (!readMask) return null;
    requireLoaded();
    const seen = presentState();
    if (seen) return answerFrom(mirror, question, { mask: readMask(), seen });
  }
  await withinDeadline(freshness.wait());
  // What is published from now on need not be found.
  const missing = readsChunks(question) && !hasWaited ? [...follower.missing.values()] : [];
  for (;;) {
    const readMask = await prepareMask(id, question);
    await prepareVectors(id, question);
    if (!readMask) return null;
    // The mirror may have started over while the mask was computed.
    requireLoaded();
    const mask = readMask();
    const isWanted = ({ documentId }: MissingChunks) => mayBeFound(documentId, question, mask);
    const lacking = missing.filter((each) => !each.isOver && isWanted(each));
    if (lacking.length === 0) return answerFrom(mirror, question, { mask, seen: null });
    if (sumOf(lacking) > PAGE_SIZE) return { type: 'missing', missing: lacking.map(({ number }) => number) };
    // This takes a few milliseconds, less than asking again.
    await withinDeadline(Promise.all(lacking.map(({ over }) => over)));
  }
}

/** What the mirror has seen; null while it is not certain, or lacks chunks of it. */
function presentState(): DataState | null {
  const { head, missing } = follower;
  // Without a run id, nobody can tell whether the server was replaced by one with other data.
  if (!head?.epoch || !runId || missing.size > 0) return null;
  return { server: runId, epoch: head.epoch, sequence: head.sequence };
}

const readsChunks = ({ type }: Question): boolean => type === 'search' || type === 'words';

async function prepareVectors(id: number, { type, callerId }: Question): Promise<void> {
  if (type !== 'search' && type !== 'similarities') return;
  const prepare = (isTimeLeft: () => boolean) => !waiting.has(id) || mirror.prepareVectors(isTimeLeft);
  if (!prepare(() => false)) await slices.run(callerId, prepare);
}

/** The mask is null for a question that needs none. @returns null when nobody waits for the answer any more */
async function prepareMask(id: number, question: Question): Promise<(() => Mask | null) | null> {
  const { type } = question;
  if (type === 'similarities' || type === 'word-scores') return () => null;
  if (needsNoMask(question)) return () => null;
  return mirror.prepare(question, () => waiting.has(id));
}

/** Whether a search by words may find whatever the partitions hold in which the caller reads. */
const needsNoMask = (question: Question): boolean =>
  question.type === 'words' && question.filter === null && mirror.readsWholePartitions(question.callerId);

async function untilLoaded(missing: readonly number[]): Promise<Answer> {
  await Promise.all(missing.map(async (number) => follower.missing.get(number)?.over));
  return { type: 'loaded' };
}

function mayBeFound(documentId: string, { callerId }: Question, mask: Mask | null): boolean {
  const document = mirror.get(documentId);
  if (!document) return false;
  return mask ? mask.documents[document.slot] === 1 : canRead(callerId, document.access.lists);
}

function sumOf(missing: readonly MissingChunks[]): number {
  return missing.reduce((sum, each) => sum + each.left(), 0);
}

function requireLoaded(): void {
  if (state === 'loading') throw new NotServing('the index is loading');
}

interface Basis {
  readonly mask: Mask | null;
  /** What the mirror has seen, if Redis was not asked whether that is all; else null. */
  readonly seen: DataState | null;
}

function answerFrom(from: Mirror, question: Question, { mask, seen }: Basis): Answer {
  switch (question.type) {
    case 'words':
      return { type: 'search', found: from.searchWords({ ...question, mask }), state: seen };
    case 'similarities':
      return { type: 'scores', scores: from.similarities(question.vector, question.chunks) };
    case 'word-scores':
      return { type: 'scores', scores: from.wordScores(question, question.chunks) };
    case 'search':
      return { type: 'search', found: from.search({ ...question, mask: present(mask) }), state: null };
    case 'list':
      return { type: 'list', documentIds: from.list({ ...question, mask: present(mask) }) };
    case 'count':
      return { type: 'count', count: from.count({ mask: present(mask) }) };
  }
}

function present(mask: Mask | null): Mask {
  if (!mask) throw new Error('a question that needs a mask was answered without one');
  return mask;
}

/** The memory of an answer that is handed over instead of copied. */
function transferred(answer: Answer): ArrayBuffer[] {
  switch (answer.type) {
    case 'search':
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
    await presence.tell();
    isFailing = false;
    warnOfSize();
    await sleep(SYNC_INTERVAL_MS);
  } catch (error) {
    reportFailure(error);
    await sleep(RETRY_INTERVAL_MS);
  }
}
