/**
 * `npm run chaos -- --minutes 5 --seed 1`: on both engines, or on the one that `--index` names. With `--attackers`, six
 * callers attack the service meanwhile. `--faults 1000` ends a run early, and `--every 0.4` says how many seconds there
 * are from one fault to the next.
 */
import { parseArgs } from 'node:util';
import { findQueryEngine, startQueryEngine } from '../support/query-engine-server.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { smallRedis } from './attackers/surroundings.js';
import { runChaos } from './run.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    index: { type: 'string' },
    attackers: { type: 'boolean', default: false },
    faults: { type: 'string' },
    every: { type: 'string' },
  },
});
// Timers take whole milliseconds only, and a fraction of a second is no difference here.
const seconds = Math.ceil(Number(values.minutes) * 60);
const seed = Number(values.seed);
if (!(seconds > 0) || !Number.isInteger(seed))
  throw new Error('--minutes takes a number, --seed a whole one');
const numberOf = (text: string) => {
  if (!(Number(text) > 0)) throw new Error('--faults and --every take numbers');
  return Number(text);
};
const { attackers } = values;
const more = {
  ...(attackers && { attackAfterSeconds: 0 }),
  ...(values.faults !== undefined && { faults: numberOf(values.faults) }),
  ...(values.every !== undefined && { everyMs: numberOf(values.every) * 1_000 }),
};
const limitsOf = (index: 'exact' | 'query-engine') => (attackers ? smallRedis(index) : []);

const engine = findQueryEngine();
const INDEXES: ['exact' | 'query-engine', (() => Promise<TestRedis>) | null][] = [
  ['exact', () => startTestRedis({ arguments: limitsOf('exact') })],
  ['query-engine', engine && (() => startQueryEngine(engine, { server: limitsOf('query-engine') }))],
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
    const result = await runChaos({ seed, seconds, redis, index, ...more });
    const { report, talk, violations, documents, requests, faults, figures } = result;
    console.info(`${String(documents)} documents, ${String(requests)} requests, ${String(faults)} faults`);
    console.info(talk);
    console.info(report);
    const counts = { index, seed, faults, violations: violations.length, documents, requests };
    console.info(`figures: ${JSON.stringify({ ...counts, ...figures })}`);
    if (violations.length > 0) process.exitCode = 1;
  } finally {
    await redis.stop();
  }
}
// Requests of a broken run may still be waiting for an answer.
process.exit();
