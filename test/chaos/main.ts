/** `npm run chaos -- --minutes 5 --seed 1`: on both engines, or on the one that `--index` names. */
import { parseArgs } from 'node:util';
import { findQueryEngine, startQueryEngine } from '../support/query-engine-server.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { runChaos } from './run.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    index: { type: 'string' },
  },
});
// Timers take whole milliseconds only, and a fraction of a second is no difference here.
const seconds = Math.ceil(Number(values.minutes) * 60);
const seed = Number(values.seed);
if (!(seconds > 0) || !Number.isInteger(seed))
  throw new Error('--minutes takes a number, --seed a whole one');

const engine = findQueryEngine();
const INDEXES: ['exact' | 'query-engine', (() => Promise<TestRedis>) | null][] = [
  ['exact', () => startTestRedis()],
  ['query-engine', engine && (() => startQueryEngine(engine))],
];
for (const [index, start] of INDEXES) {
  if (values.index !== undefined && values.index !== index) continue;
  if (start === null) {
    console.info(`skipped: ${index}: no Redis with the Query Engine found (QUIRE_TEST_QUERY_ENGINE)`);
    continue;
  }
  console.info(`chaos on ${index}, seed ${String(seed)}, ${String(seconds)} s`);
  const redis = await start();
  try {
    const { report, talk, violations, documents, requests, faults } = await runChaos({
      seed,
      seconds,
      redis,
      index,
    });
    console.info(`${String(documents)} documents, ${String(requests)} requests, ${String(faults)} faults`);
    console.info(talk);
    console.info(report);
    if (violations.length > 0) process.exitCode = 1;
  } finally {
    await redis.stop();
  }
}
