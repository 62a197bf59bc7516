import { readFile } from 'node:fs/promises';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import type { Express } from 'express';
import { z } from 'zod';
import type { Jobs } from '../../shared/queues/jobs.js';
import { LANES } from '../../shared/queues/lanes.js';

export interface BoardOptions {
  readonly jobs: Jobs;
  readonly readOnly: boolean;
  /** The path at which browsers see /admin. */
  readonly adminPath: string;
}

/** Bull Board over all queues. It shows ids only, and loads nothing from other servers. */
export function createQueueBoard({ jobs, readOnly, adminPath }: BoardOptions): Express {
  const serverAdapter = new ExpressAdapter().setBasePath(`${adminPath}/queues`);
  createBullBoard({
    queues: LANES.map((name) => boardQueue(jobs.queue(name), { readOnly, adminPath })),
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
  // @NOTE bull-board types its express app as `any`.
  const app = serverAdapter.getRouter() as Express;
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

function boardQueue(
  queue: ReturnType<Jobs['queue']>,
  { readOnly, adminPath }: Pick<BoardOptions, 'readOnly' | 'adminPath'>,
): BullMQAdapter {
  const adapter = new BullMQAdapter(queue, {
    readOnlyMode: readOnly,
    externalJobUrl: (job) => documentLink(job.data, adminPath),
  });
  adapter.setFormatter('data', (data: unknown) => shownData.parse(data));
  adapter.setFormatter('returnValue', (value: unknown) => shownOutcome.parse(value));
  return adapter;
}

/** The board's own fonts come from another server. */
const fonts = {
  'font-sans': 'system-ui, -apple-system, Roboto, sans-serif',
  'font-mono': 'ui-monospace, Menlo, monospace',
};

/** Payloads hold ids only. If one ever held more, it would not be shown here. */
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
  })
  .catch({});
const shownOutcome = z.string().max(40).nullable().catch(null);

function documentLink(data: unknown, adminPath: string) {
  const { documentId, generation } = shownData.parse(data);
  const found = documentId ?? (typeof generation === 'string' ? generation.split('.')[0] : undefined);
  return found === undefined
    ? { displayText: 'Queues', href: `${adminPath}/queues` }
    : { displayText: 'Document', href: `${adminPath}/documents/${encodeURIComponent(String(found))}` };
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
