import { readFile } from 'node:fs/promises';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import type { Job } from 'bullmq';
import type { Express } from 'express';
import { z } from 'zod';
import type { Jobs } from '../../shared/queues/jobs.js';
import { LANE_PURPOSES, LANES, type LaneName } from '../../shared/queues/lanes.js';
import type { ReadJobNotes } from '../services/jobs/job-notes.js';
import { documentsOf } from '../services/jobs/job-subject.js';
import type { RetryJob } from '../services/jobs/retry-job.js';

export interface BoardOptions {
  readonly jobs: Jobs;
  readonly retryJob: RetryJob;
  readonly readNotes: ReadJobNotes;
  readonly readOnly: boolean;
  /** The path at which browsers see /admin. */
  readonly adminPath: string;
}

/** bull-board does not tell the type of its app. */
const isApp = (value: unknown): value is Express => typeof value === 'function' && 'engine' in value;

/** Bull Board over all queues. It shows ids and file names, no content, and loads nothing from other servers. */
export function createQueueBoard(options: BoardOptions): Express {
  const { adminPath } = options;
  const serverAdapter = new ExpressAdapter().setBasePath(`${adminPath}/queues`);
  createBullBoard({
    queues: LANES.map((name) => boardQueue(name, options)),
    serverAdapter,
    options: {
      uiConfig: {
        boardTitle: 'Quire queues',
        hideDocsLink: true,
        miscLinks: [{ text: 'Session', url: `${adminPath}/login` }],
        theme: { light: fonts, dark: fonts },
      },
    },
  });
  // The board's own handler would show error messages; errors go on to ours instead.
  serverAdapter.setErrorHandler((error) => {
    throw error;
  });
  const app: unknown = serverAdapter.getRouter();
  if (!isApp(app)) throw new TypeError('the board has no app of express');
  app.disable('x-powered-by');
  app.engine('ejs', (path, values, done) => {
    renderBoard(path, values).then(
      (page) => {
        done(null, page);
      },
      (error: unknown) => {
        done(error);
      },
    );
  });
  return app;
}

function boardQueue(lane: LaneName, { jobs, retryJob, readNotes, readOnly, adminPath }: BoardOptions) {
  const queue = jobs.queue(lane);
  const adapter = new BullMQAdapter(queue, {
    readOnlyMode: readOnly,
    description: LANE_PURPOSES[lane],
    externalJobUrl: (job) => documentLink(job.data, adminPath),
  });
  const operated = async (job: Job<object>): Promise<Job> => {
    const notes = await readNotes(lane, job);
    const runAgain = job.retry.bind(job);
    job.retry = (state) => retryJob(job, () => runAgain(state));
    const asShown = job.toJSON.bind(job);
    job.toJSON = () => ({ ...asShown(), data: { ...job.data, ...notes } });
    return job;
  };
  adapter.getJob = async (jobId) => {
    const job: Job<object> | undefined = await queue.getJob(jobId);
    return job && operated(job);
  };
  adapter.getJobs = async (statuses, start, end) => {
    // Jobs of a paused queue are waiting.
    const known = statuses.filter((status) => status !== 'paused');
    // A job may be gone by the time it is read.
    const found: readonly (Job | undefined)[] = await queue.getJobs(known, start, end);
    return Promise.all(found.filter((job) => job !== undefined).map(operated));
  };
  adapter.setFormatter('data', (data: unknown) => shownData.parse(data));
  adapter.setFormatter('returnValue', (value: unknown) => shownOutcome.parse(value));
  return adapter;
}

/** The board's own fonts come from another server. */
const fonts = {
  'font-sans': 'system-ui, -apple-system, Roboto, sans-serif',
  'font-mono': 'ui-monospace, Menlo, monospace',
};

/** Payloads hold ids only, and our notes are added to them. If one ever held more, it would not be shown here. */
const id = z
  .union([z.string().max(300), z.number()])
  .optional()
  .catch(undefined);
const shownData = z
  .object({
    documentId: id,
    version: id,
    attempt: id,
    batch: id,
    batches: id,
    requestId: id,
    generation: id,
    mark: id,
    ownerId: id,
    name: id,
    build: id,
    filename: id,
    waits: id,
    retry: id,
  })
  .catch({});
const shownOutcome = z.string().max(40).nullable().catch(null);

function documentLink(data: unknown, adminPath: string) {
  const [first] = documentsOf(data);
  return first === undefined
    ? { displayText: 'Queues', href: `${adminPath}/queues` }
    : { displayText: 'Document', href: `${adminPath}/documents/${encodeURIComponent(first)}` };
}

/** Renders the board's only template, which only inserts values, and removes links to other servers (its fonts). */
async function renderBoard(path: string, values: object): Promise<string> {
  const template = await readFile(path, 'utf8');
  const known = new Map<string, unknown>(Object.entries(values));
  return template
    .replace(/<link\b[^>]*\bhref="https?:[^>]*>/g, '')
    .replace(/<%([=-]) *(\w+) *%>/g, (_match, kind: string, name: string) => {
      const found = known.get(name);
      const value = typeof found === 'string' ? found : '';
      return kind === '='
        ? value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
        : value;
    });
}
