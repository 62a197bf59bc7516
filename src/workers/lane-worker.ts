import {
  DelayedError,
  UnrecoverableError,
  WaitingError,
  Worker,
  type ConnectionOptions,
  type Job,
} from 'bullmq';
import { UnavailableError } from '../shared/errors.js';
import type { Logger } from '../shared/observability/logger.js';
import { jobMarks } from '../shared/queues/job-kinds.js';
import { beginJobSpan } from '../shared/queues/jobs.js';
import type { LaneName } from '../shared/queues/lanes.js';
import { toUnavailable, type Redis } from '../shared/redis/client.js';
import { QUEUE_PREFIX, queueKeys } from '../shared/redis/keys.js';
import { declareScript, evenWhenFull } from '../shared/redis/script.js';
import { systemErrorCode } from '../shared/system-error-code.js';
import { createSharedController } from '../shared/tools/aborting.js';
import { tracedBy, type Span } from '../shared/tracing/tracing.js';
import { TurnOverError, NotYetError } from './job-turn.js';
import { DeadlyJobError, type PoisonJobs } from './poison-jobs.js';

/** The result of a job, which the queue stores as its return value. */
export type Outcome = 'done' | 'published' | 'failed' | 'stale';

/** The last attempt has failed, or too many workers have died while they ran the job. */
export type JobFailReason = 'failed' | 'poison';

export interface JobHandler {
  readonly run: (job: Job, signal: AbortSignal) => Promise<Outcome>;
  /**
   * True if each end of such a job is logged at level info, for operators who follow a document. Otherwise only
   * publications and failures are.
   */
  readonly isNews?: true;
  /** Returns the priority with which a job that threw a `TurnOverError` continues. */
  readonly nextTurn?: (job: Job) => Promise<number>;
  /** Called when the job will not be run again, so that its document does not wait for ever. */
  readonly failJob?: (job: Job, reason: JobFailReason) => Promise<unknown>;
}

export interface WorkerOptions {
  readonly queue: LaneName;
  readonly connection: ConnectionOptions;
  readonly concurrency: number;
  readonly lockMilliseconds: number;
  /** Handlers by job name. */
  readonly handlers: Readonly<Record<string, JobHandler>>;
  readonly logger: Logger;
  readonly poisonJobs: PoisonJobs;
  readonly noteWait: NoteWait;
  readonly onFinished?: (finished: {
    queue: LaneName;
    job: string;
    outcome: string;
    seconds: number;
  }) => void;
}

/** Runs the jobs of one lane. This is the only place where errors become results of jobs. */
export function createLaneWorker(options: WorkerOptions) {
  const { queue, connection, concurrency, lockMilliseconds, logger } = options;
  const stopping = createSharedController();
  const worker = new Worker(queue, (job, token) => processJob(options, { job, token }, stopping.signal), {
    connection,
    prefix: QUEUE_PREFIX,
    concurrency,
    lockDuration: lockMilliseconds,
    stalledInterval: Math.max(1_000, lockMilliseconds / 2),
    // BullMQ would fail a job without telling its document. Poison jobs, which kill workers, are found by `poisonJobs`.
    maxStalledCount: Number.MAX_SAFE_INTEGER,
    drainDelay: 1,
  });
  worker.on('error', (error) => logger.warn({ queue, err: error }, 'queue connection'));

  return {
    /** Takes no jobs until `resume` is called; running jobs finish. */
    pause: (): Promise<void> => worker.pause(true),
    resume: (): Promise<void> => worker.resume(),
    /** Takes no new jobs and lets running ones finish for a while. Then it interrupts them, and they return to the queue. */
    close: async (drainMilliseconds: number): Promise<void> => {
      const timer = setTimeout(() => stopping.abort(), drainMilliseconds);
      await worker.close();
      clearTimeout(timer);
    },
  };
}

interface TakenJob {
  readonly job: Job;
  /** The token with which this worker has locked the job. */
  readonly token: string | undefined;
}

async function processJob(options: WorkerOptions, taken: TakenJob, stopping: AbortSignal): Promise<Outcome> {
  const span = beginJobSpan(options.queue, taken.job);
  try {
    return await tracedBy(span, () => runJob(options, taken, { stopping, span }));
  } catch (error) {
    const isForQueue = [DelayedError, WaitingError, UnrecoverableError].some((kind) => error instanceof kind);
    if (isForQueue) throw error;
    throw forDashboard(error);
  }
}

/** Takes the time of a run, and tells its span and the metrics the outcome. */
function openRun({ queue, onFinished }: WorkerOptions, job: Job, span: Span) {
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1_000;
  const finish = (outcome: string) => {
    span.set({ 'quire.job.outcome': outcome });
    if (outcome === 'failed') span.fail('document_failed');
    onFinished?.({ queue, job: job.name, outcome, seconds: seconds() });
  };
  return { seconds, finish };
}

async function runJob(
  options: WorkerOptions,
  { job, token }: TakenJob,
  { stopping, span }: { readonly stopping: AbortSignal; readonly span: Span },
): Promise<Outcome> {
  const { queue, handlers, logger, poisonJobs, noteWait } = options;
  const handler = handlers[job.name];
  if (!handler) throw new UnrecoverableError(`no handler for ${job.name}`);
  const { seconds, finish } = openRun(options, job, span);
  const fields = { queue, job: job.name, jobId: job.id, requestId: requestIdOf(job) };
  try {
    const turn = () => runTurn(handler, { job, token }, stopping);
    // Without `failJob`, a job is one of upkeep that the sweep would add again.
    const outcome = handler.failJob ? await poisonJobs.run(job, stopping, turn) : await turn();
    if (outcome === 'turn_over') {
      finish('turn_over');
      throw new WaitingError();
    }
    const durationMs = Math.round(seconds() * 1_000);
    logger[levelOf(outcome, handler)]({ ...fields, outcome, durationMs }, 'job finished');
    finish(outcome);
    return outcome;
  } catch (thrown) {
    if (thrown instanceof WaitingError) throw thrown;
    const error = toUnavailable(thrown);
    const waits = waitBeforeNextTry(error, stopping);
    if (waits !== null) {
      if (error instanceof NotYetError) logger.debug({ ...fields, waits }, 'job waits');
      else logger.warn({ ...fields, waits, err: error }, 'job put off');
      finish('delayed');
      return await putOff({ job, token }, waits, () => noteWait(job, reasonOf(error)));
    }
    finish('error');
    const isPoison = error instanceof DeadlyJobError;
    const isLast = isPoison || job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
    logger.error({ ...fields, isLast, err: error }, 'job failed');
    if (isLast) await handler.failJob?.(job, isPoison ? 'poison' : 'failed');
    throw isPoison ? new UnrecoverableError(error.message) : error;
  }
}

function levelOf(outcome: Outcome, { isNews }: JobHandler): 'info' | 'debug' {
  return (isNews ?? (outcome === 'published' || outcome === 'failed')) ? 'info' : 'debug';
}

async function putOff(
  { job, token }: TakenJob,
  milliseconds: number,
  note: () => Promise<void>,
): Promise<never> {
  await Promise.all([note(), job.moveToDelayed(Date.now() + milliseconds, token)]);
  throw new DelayedError();
}

/** Returns the reason that operators are shown. Messages of other errors may quote a document. */
function reasonOf(error: unknown): string {
  if (error instanceof NotYetError) return error.waitsFor;
  return error instanceof UnavailableError ? error.message : 'its worker stopped';
}

/** Runs a job until it ends or its turn does; it then waits in its line again. */
async function runTurn(
  { run, nextTurn }: JobHandler,
  { job, token }: TakenJob,
  stopping: AbortSignal,
): Promise<Outcome | 'turn_over'> {
  for (;;) {
    try {
      return await run(job, stopping);
    } catch (error) {
      if (!(error instanceof TurnOverError) || !nextTurn) throw error;
    }
    if (!(await takesNextTurn(job, nextTurn))) continue;
    await job.moveToWait(token);
    return 'turn_over';
  }
}

/**
 * Gives the job the priority of its next turn. @returns false when a full Redis refuses that: the job then goes on without
 * a new turn, since it may be one that frees memory
 */
async function takesNextTurn(job: Job, nextTurn: (job: Job) => Promise<number>): Promise<boolean> {
  try {
    await job.changePriority({ priority: await nextTurn(job) });
    return true;
  } catch {
    return false;
  }
}

/** Returns after how many milliseconds a job that is not to blame is tried again; null for a job that failed. */
function waitBeforeNextTry(error: unknown, stopping: AbortSignal): number | null {
  if (error instanceof UnavailableError) return error.retryAfterSeconds * 1_000;
  if (error instanceof NotYetError) return error.milliseconds;
  return stopping.aborted ? 100 : null;
}

/**
 * Makes the error that the queue stores for dashboards: its kind and where it happened. The message may quote a document,
 * so it is only in the log.
 */
function forDashboard(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(typeof error);
  const code = systemErrorCode(error);
  const shown = new Error(code ?? 'see the log of the worker');
  shown.name = error.name;
  const head = `${error.name}: ${error.message}`;
  const frames = error.stack?.startsWith(head) ? error.stack.slice(head.length) : '';
  shown.stack = `${shown.name}: ${shown.message}${frames}`;
  return shown;
}

function requestIdOf(job: Job): string | undefined {
  const data: unknown = job.data;
  const has = typeof data === 'object' && data !== null && 'requestId' in data;
  return has && typeof data.requestId === 'string' ? data.requestId : undefined;
}

/** Notes in a job the reason why it is put off, so that operators see why it waits. */
type NoteWait = (job: Pick<Job, 'id' | 'queueName'>, waitsFor: string) => Promise<void>;

/** Notes the reason in a job's hash. A job that is gone gets none. */
const noteScript = declareScript({ keys: { job: 'key' }, args: { reason: 'text' } }).lua<number>(`
${evenWhenFull('hash', 'job')}
if redis.call('EXISTS', job) == 0 then return 0 end
return redis.call('HSET', job, '${jobMarks.waitsFor}', reason)
`);

export function createNoteWait(redis: Redis): NoteWait {
  return async (job, waitsFor) => {
    const call = { keys: { job: queueKeys.ofJob(job) }, args: { reason: waitsFor } };
    // The reason only informs, and a job is also put off while Redis is away.
    await noteScript.run(redis, call).catch(() => undefined);
  };
}
