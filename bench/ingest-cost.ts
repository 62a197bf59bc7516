/**
 * What one short text costs to take in, in time of the processor and in commands of Redis: `npx tsx bench/ingest-cost.ts
 * [documents] [clients] [folder for CPU profiles]`. Times of the processor, unlike those of a clock, hardly depend on what
 * else the machine does. Redis writes its log as `npm start` has it written, with `appendfsync always`.
 */
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createClient } from 'redis';
import { startTestRedis } from '../test/support/redis.js';
import { startService } from '../test/support/service.js';
import { ingestCollection } from './load/ingest-collection.js';
import { round } from './support/client.js';
import { loadCollection } from './support/collections.js';

const [documents = 3_000, clients = 16] = process.argv.slice(2, 4).map(Number);
const folder = process.argv[4];
/** Documents that are taken in before, so that code is compiled and tables are loaded. */
const WARM = 1_500;
/** What the kernel counts the time of a process in: hundredths of a second. */
const TICK_MILLISECONDS = 10;
const secret = 'a secret of the benchmark, long enough for HS256';

const collection = loadCollection('scifact');
if (!collection) process.exit(0);
const texts = Array.from({ length: WARM + documents }, (_, i) => {
  const source = collection.documents[i % collection.documents.length];
  return { id: String(i), text: source?.text ?? '' };
});

if (folder !== undefined) await mkdir(folder, { recursive: true });
const redis = await startTestRedis({ arguments: ['--appendfsync', 'always'] });
const service = await startService({
  redis,
  workers: ['ingestion', 'embedding', 'cache,usage,maintenance'],
  env: { JWT_SECRET_KEY: secret, QUIRE_LOG_LEVEL: 'warn', QUIRE_WORKERS_LOCK_SECONDS: '30' },
  execArgv: folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`],
});
const client = createClient({ url: redis.url });
await client.connect();

const pids = {
  api: service.api.child.pid,
  ingestion: service.workers[0]?.child.pid,
  embedding: service.workers[1]?.child.pid,
  others: service.workers[2]?.child.pid,
  redis: redis.pid,
};

function processorTimes(): Record<string, number> {
  const times = Object.entries(pids).map(([name, pid]) => {
    const fields =
      readFileSync(`/proc/${String(pid ?? 0)}/stat`, 'utf8')
        .split(') ')[1]
        ?.split(' ') ?? [];
    return [name, (Number(fields[11]) + Number(fields[12])) * TICK_MILLISECONDS] as const;
  });
  return Object.fromEntries(times);
}

interface Calls {
  readonly count: number;
  readonly microseconds: number;
}

async function calls(): Promise<Map<string, Calls>> {
  const found = (await client.info('commandstats')).matchAll(/^cmdstat_(\S+?):calls=(\d+),usec=(\d+)/gm);
  return new Map(
    [...found].map(([, name = '', count, usec]) => [
      name,
      { count: Number(count), microseconds: Number(usec) },
    ]),
  );
}

async function stats(name: string): Promise<number> {
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(await client.info('stats'))?.[1]);
}

try {
  const target = { url: service.url, secret };
  await ingestCollection(target, { documents: texts.slice(0, WARM) }, { user: 'load', clients });
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const [times, commands, read] = [processorTimes(), await calls(), await stats('total_net_input_bytes')];
  const { figures } = await ingestCollection(
    target,
    { documents: texts.slice(WARM) },
    { user: 'load', clients },
  );
  const after = processorTimes();
  const [counted, bytes] = [await calls(), (await stats('total_net_input_bytes')) - read];
  const milliseconds = Object.keys(pids).map((name) => {
    return [name, round(((after[name] ?? 0) - (times[name] ?? 0)) / documents, 3)] as const;
  });
  const sum = milliseconds.reduce((total, [, each]) => total + each, 0);
  const each = [...counted]
    .map(([name, { count, microseconds: taken }]) => {
      const before = commands.get(name) ?? { count: 0, microseconds: 0 };
      const share = (value: number) => round(value / documents, 2);
      return { name, count: share(count - before.count), taken: share(taken - before.microseconds) };
    })
    .filter(({ count }) => count >= 0.05)
    .sort((a, b) => b.taken - a.taken);
  console.table([{ ...Object.fromEntries(milliseconds), sum: round(sum, 3) }]);
  console.table([{ ...figures, kilobytesToRedis: round(bytes / documents / 1_000) }]);
  console.log('commands of Redis for each, with microseconds; those of scripts count there, too:');
  console.log(each.map(({ name, count, taken }) => `${name} ${String(count)} (${String(taken)})`).join(', '));
} finally {
  client.destroy();
  await service.stop();
  await redis.stop();
}
