/**
 * Measures the cost of taking in one short text, in time of the processor and in commands of Redis: `npx tsx
 * bench/ingest-cost.ts [documents] [clients] [folder for CPU profiles]`. Times of the processor, unlike those of a clock,
 * hardly depend on other work of the machine. Redis writes its log as `npm start` has it written, with `appendfsync
 * always`.
 */
import { mkdir } from 'node:fs/promises';
import { startTestRedis } from '../test/support/redis.js';
import { startService } from '../test/support/service.js';
import { costOfEach, openCostMeter } from './load/cost-meter.js';
import { ingestCollection } from './load/ingest-collection.js';
import { loadCollection } from './support/collections.js';

const [documents = 3_000, clients = 16] = process.argv.slice(2, 4).map(Number);
const folder = process.argv[4];
/** Documents that are taken in before, so that code is compiled and tables are loaded. */
const WARM = 1_500;
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
const meter = await openCostMeter({
  redisUrl: redis.url,
  pids: {
    api: service.api.child.pid,
    ingestion: service.workers[0]?.child.pid,
    embedding: service.workers[1]?.child.pid,
    others: service.workers[2]?.child.pid,
    redis: redis.pid,
  },
});

try {
  const target = { url: service.url, secret };
  await ingestCollection(target, { documents: texts.slice(0, WARM) }, { user: 'load', clients });
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const before = await meter.read();
  const { figures } = await ingestCollection(
    target,
    { documents: texts.slice(WARM) },
    { user: 'load', clients },
  );
  const { milliseconds, kilobytesToRedis, commands } = costOfEach(before, await meter.read(), documents);
  console.table([milliseconds]);
  console.table([{ ...figures, kilobytesToRedis }]);
  console.log(`commands of Redis for each, those of scripts counted there, too: ${commands}`);
} finally {
  meter.close();
  await service.stop();
  await redis.stop();
}
