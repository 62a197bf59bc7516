/**
 * Measures the cost of taking in a short text by batches, in time of the processor: `npx tsx bench/batch-cost.ts
 * [documents] [batches at once] [folder for CPU profiles]`. Times of the processor, unlike those of a clock, hardly depend
 * on other work of the machine. Redis writes its log as `npm start` has it written, with `appendfsync always`. With
 * `BENCH_PROVIDER_MS`, vectors come from a provider that takes so long for each request, and single texts of another caller
 * go in beside the batches.
 */
import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../test/support/client.js';
import { startTestRedis } from '../test/support/redis.js';
import { startService } from '../test/support/service.js';
import { costOfEach, openCostMeter } from './load/cost-meter.js';
import { startProvider } from './load/provider.js';
import { percentile, round } from './support/client.js';
import { loadCollection } from './support/collections.js';

const [documents = 4_000, clients = 4] = process.argv.slice(2, 4).map(Number);
const folder = process.argv[4];
/** Documents that are taken in before, so that code is compiled and tables are loaded. */
const WARM = 2_000;
const BATCH = 500;

const collection = loadCollection('scifact');
if (!collection) process.exit(0);
const texts = Array.from({ length: WARM + documents }, (_, i) => ({
  content: collection.documents[i % collection.documents.length]?.text ?? '',
}));

if (folder !== undefined) await mkdir(folder, { recursive: true });
const latency = process.env['BENCH_PROVIDER_MS'];
const provider = latency === undefined ? null : await startProvider(Number(latency));
const redis = await startTestRedis({ arguments: ['--appendfsync', 'always'] });
const service = await startService({
  redis,
  workers: ['ingestion', 'embedding,cache,usage,maintenance'],
  env: {
    QUIRE_LOG_LEVEL: 'warn',
    QUIRE_WORKERS_LOCK_SECONDS: '30',
    QUIRE_WORKERS_SWEEP_SECONDS: '30',
    ...provider?.env,
  },
  execArgv: folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`],
});
const meter = await openCostMeter({
  redisUrl: redis.url,
  pids: {
    api: service.api.child.pid,
    ingestion: service.workers[0]?.child.pid,
    others: service.workers[1]?.child.pid,
    redis: redis.pid,
  },
});
const client = createClient(service.url, 'load');

async function load(some: typeof texts): Promise<void> {
  const batches = Array.from({ length: Math.ceil(some.length / BATCH) }, (_, i) =>
    some.slice(i * BATCH, (i + 1) * BATCH),
  );
  const send = async () => {
    for (let batch = batches.shift(); batch; batch = batches.shift()) {
      const { status } = await client.post('/ingest/batch', { documents: batch }, { prefer: 'wait=120' });
      if (status !== 200) throw new Error(`a batch was answered ${String(status)}`);
    }
  };
  await Promise.all(Array.from({ length: clients }, send));
}

/** Milliseconds until single texts of another caller can be found, one after the other, until `isOver`. */
async function watchOther(isOver: () => boolean): Promise<number[]> {
  const other = createClient(service.url, 'other');
  const milliseconds: number[] = [];
  while (!isOver()) {
    const content = `A note of another caller, ${String(milliseconds.length)}.`;
    const sent = performance.now();
    const { status } = await other.post('/ingest/text', { content }, { prefer: 'wait=120' });
    if (status !== 200) throw new Error(`a single text was answered ${String(status)}`);
    milliseconds.push(performance.now() - sent);
    await sleep(200);
  }
  return milliseconds;
}

try {
  await load(texts.slice(0, WARM));
  if (provider) {
    let rounds = 0;
    const alone = await watchOther(() => (rounds += 1) > 10);
    console.log(
      `a single text while nothing else is going in: p50 ${String(round(percentile(alone, 0.5)))} ms`,
    );
  }
  const [before, start] = [await meter.read(), performance.now()];
  let isOver = false;
  const watching = provider ? watchOther(() => isOver) : null;
  await load(texts.slice(WARM));
  isOver = true;
  const seconds = (performance.now() - start) / 1_000;
  const { milliseconds, commands } = costOfEach(before, await meter.read(), documents);
  console.table([{ ...milliseconds, documentsPerSecond: round(documents / seconds) }]);
  if (watching) {
    const beside = await watching;
    console.log(
      `single texts of another caller: p50 ${String(round(percentile(beside, 0.5)))} ms, most ${String(round(percentile(beside, 1)))} ms of ${String(beside.length)}`,
    );
  }
  console.log(commands);
} finally {
  meter.close();
  await service.stop();
  await redis.stop();
  provider?.stop();
}
