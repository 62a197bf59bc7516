/**
 * Searches by words through the API at growing numbers of chunks, of one caller and of many: `npm run bench:words`, or with
 * sizes, `npm run bench:words -- 15000 100000`. Prints latency and throughput, the time of a cold start with all chunks, and
 * the memory that an API process takes for each chunk.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { FIRST_VECTORS } from '../src/shared/data-set/stored-vectors.js';
import { createRedis } from '../src/shared/redis/client.js';
import { startService } from '../test/support/service.js';
import { loadSearch } from './search.js';
import { round } from './support/client.js';
import { loadCollection } from './support/collections.js';
import { describeMachine, residentMegabytes } from './support/machine.js';
import { createSeed } from './support/seed.js';

const secret = 'a secret of the benchmark, long enough for HS256';
const sizes = process.argv.slice(2).map(Number);
if (sizes.length === 0) sizes.push(15_000, 100_000);
/** The last size is also divided among many callers. */
const MANY = { callers: 1_000, chunksEach: Number(process.env['BENCH_CHUNKS_EACH'] ?? 0) };

console.table(describeMachine());
const scifact = loadCollection('scifact');
if (!scifact) process.exit(0);
const queries = scifact.queries.map(({ text }) => text);

const service = await startService({
  env: { JWT_SECRET_KEY: secret, QUIRE_LOG_LEVEL: 'warn', QUIRE_WORKERS_LOCK_SECONDS: '30' },
});
const redis = createRedis(service.redis.url, { failFast: true, onError: console.error });
await redis.connect();
const rows: object[] = [];
const target = { url: service.url, secret };
const resident = () => residentMegabytes(service.api.child.pid ?? 0);
try {
  const seedOf = (owner: string) => createSeed(redis, [scifact], { owner, vectors: FIRST_VECTORS });
  const seed = seedOf('load');
  const idle = resident();
  let chunks = 0;
  for (const size of sizes) {
    await seed(size - chunks);
    chunks = size;
    const began = performance.now();
    await service.startApi();
    await service.untilReady();
    const secondsToReady = round((performance.now() - began) / 1_000, 2);
    await sleep(1_000);
    for (const clients of [1, 8])
      rows.push({
        chunks,
        of: 'one caller',
        secondsToReady,
        ...(await loadSearch(target, { user: 'load', queries, clients })),
      });
    console.table(rows);
    console.log(
      `resident: ${String(resident())} MB with ${String(chunks)} chunks, ${String(idle)} MB with none`,
    );
  }
  if (MANY.chunksEach > 0) {
    for (let caller = 0; caller < MANY.callers; caller += 1)
      await seedOf(`user-${String(caller)}`)(MANY.chunksEach);
    await service.startApi();
    await service.untilReady();
    await sleep(1_000);
    for (const clients of [1, 8])
      rows.push({
        chunks: chunks + MANY.callers * MANY.chunksEach,
        of: 'one of a thousand',
        ...(await loadSearch(target, { user: 'user-500', queries, clients })),
      });
    console.table(rows);
  }
  console.log(JSON.stringify({ machine: describeMachine(), rows }));
} finally {
  redis.destroy();
  await service.stop();
}
