/**
 * Measures how much a caller notices of another's large import: the time until a single text can be searched, a PATCH and a
 * DELETE, with nobody else there, with documents of another caller queued, and with large files of theirs being read; and
 * the loss of the import by it. `npx tsx bench/fairness.ts [documents] [files]`, after `npm run build`. Prints tables, then
 * one line of JSON.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import jsonwebtoken from 'jsonwebtoken';
import { createClient } from 'redis';
import { startService, type Service } from '../test/support/service.js';
import { eachAtOnce, percentile, round } from './support/client.js';
import { describeMachine } from './support/machine.js';

const [documents = 10_000, files = 30] = process.argv.slice(2).map(Number);
const FILE_BYTES = 1_500_000;
const QUEUES = ['ingestion', 'embedding', 'cache,usage,maintenance'] as const;
const secret = 'a secret of the benchmark, long enough for HS256';

const machine = describeMachine();
console.table(machine);
const service = await startService({
  workers: QUEUES,
  env: {
    JWT_SECRET_KEY: secret,
    QUIRE_LOG_LEVEL: 'error',
    QUIRE_INDEX: 'exact',
    QUIRE_WORKERS_LOCK_SECONDS: '10',
    QUIRE_WORKERS_SWEEP_SECONDS: '15',
  },
});
const redis = createClient({ url: service.redis.url });
await redis.connect();

type Figures = Readonly<Record<string, number>>;

function callerOf(user: string) {
  const token = jsonwebtoken.sign({ entity_id: user, permissions: ['write'] }, secret, { expiresIn: '1d' });
  return async (method: string, path: string, body?: string | FormData, prefer = 'wait=120') => {
    const type = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
    const response = await fetch(`${service.url}${path}`, {
      method,
      ...(body === undefined ? {} : { body }),
      headers: { authorization: `Bearer ${token}`, prefer, ...type },
    });
    const text = await response.text();
    if (response.status >= 300) throw new Error(`${method} ${path}: ${String(response.status)} ${text}`);
    // @NOTE the service's own answer, which its tests hold against its schema
    return JSON.parse(text) as { external_id: string };
  };
}
const heavy = callerOf('heavy');
const light = callerOf('light');

async function timed<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const started = performance.now();
  const result = await work();
  return [result, performance.now() - started];
}

/** One text from asking to being searchable, a change of its metadata until searches see it, and its removal. */
async function singleText(number: number) {
  const content = JSON.stringify({ content: `A note of no account, ${String(number)}.` });
  const [{ external_id: id }, ingest] = await timed(() => light('POST', '/ingest/text', content));
  const change = JSON.stringify({ metadata: { number } });
  const [, patch] = await timed(() => light('PATCH', `/documents/${id}`, change));
  const [, remove] = await timed(() => light('DELETE', `/documents/${id}`));
  return { ingest, patch, remove };
}

/** Single texts, one after the other, until `isOver`. */
async function watchLight(isOver: () => boolean): Promise<Figures> {
  const seen: Awaited<ReturnType<typeof singleText>>[] = [];
  while (!isOver()) {
    seen.push(await singleText(seen.length));
    await sleep(500);
  }
  const of = (name: 'ingest' | 'patch' | 'remove') => {
    const all = seen.map((each) => each[name]);
    return {
      [`${name}P50Ms`]: round(percentile(all, 0.5), 0),
      [`${name}MostMs`]: round(percentile(all, 1), 0),
    };
  };
  return { singleTexts: seen.length, ...of('ingest'), ...of('patch'), ...of('remove') };
}

const unfinished = () => redis.zCard('quire:unfinished');

/** Queues documents while nobody ingests, then lets them be ingested. @returns documents a second */
async function importAll(add: (number: number) => Promise<unknown>, count: number, during: () => void) {
  const [ingestion] = service.workers.filter(
    ({ child }) => child.exitCode === null && child.spawnargs.includes(QUEUES[0]),
  );
  await ingestion?.kill('SIGTERM');
  await eachAtOnce(
    Array.from({ length: count }, (_, i) => i),
    32,
    async (number) => {
      await add(number);
    },
  );
  // The heartbeat of the one that was stopped grows old.
  await sleep(1_500);
  service.startWorker(QUEUES[0]);
  while ((await redis.pTTL('quire:worker:ingestion')) < 14_000) await sleep(10);
  during();
  const started = performance.now();
  while ((await unfinished()) > 2) await sleep(100);
  return count / ((performance.now() - started) / 1_000);
}

const addText = (number: number) => {
  const content = `Report ${String(number)} of a large import says nothing of interest at all.`;
  return heavy('POST', '/ingest/text', JSON.stringify({ content }), 'respond-async');
};
const addFile = (number: number) => {
  const line = `Line of file ${String(number)}, which goes on and on about matters that nobody asked for. `;
  const form = new FormData();
  form.append('file', new Blob([line.repeat(FILE_BYTES / line.length)]), `file-${String(number)}.txt`);
  return heavy('POST', '/ingest/file', form, 'respond-async');
};

async function compare(add: (number: number) => Promise<unknown>, count: number) {
  // A quarter of many tells how fast it goes.
  const alone = await importAll(add, Math.min(count, Math.max(30, Math.ceil(count / 4))), () => undefined);
  let isOver = false;
  let watching: Promise<Figures> = Promise.resolve({});
  const together = await importAll(add, count, () => {
    watching = watchLight(() => isOver);
  });
  isOver = true;
  const light = await watching;
  const lost = round(100 * (1 - together / alone), 1);
  return { perSecondAlone: round(alone, 1), perSecond: round(together, 1), lostPercent: lost, ...light };
}

async function run(target: Service) {
  try {
    await singleText(0);
    let rounds = 0;
    const alone = await watchLight(() => (rounds += 1) > 20);
    const behindTexts = await compare(addText, documents);
    const behindFiles = await compare(addFile, files);
    console.table({
      alone,
      [`behind ${String(documents)} texts`]: behindTexts,
      [`behind ${String(files)} files of ${String(FILE_BYTES / 1e6)} MB`]: behindFiles,
    });
    console.log(JSON.stringify({ machine, documents, files, alone, behindTexts, behindFiles }));
  } finally {
    redis.destroy();
    await target.stop();
  }
}

await run(service);
