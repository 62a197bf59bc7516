/**
 * Measures the time of a caller's searches alone, and beside another who keeps 200 searches going: `npx tsx
 * bench/search-fairness.ts`, after `npm run build`. `BENCH_REDIS` names a Redis with the Query Engine. Prints a table, then
 * one line of JSON.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startService } from '../test/support/service.js';
import { createBenchClient, eachAtOnce, percentile, round } from './support/client.js';

const DOCUMENTS = 150;
const HEAVY = 200;
const SEARCHES = 40;
const secret = 'a secret of the benchmark, long enough for HS256';
const words = 'canary budget plan river stone cloud lamp tiger paper glass winter song'.split(' ');
const sentence = (i: number) =>
  `${Array.from({ length: 12 }, (_, j) => words[(i * 7 + j * (i % 5) + j) % words.length] ?? '').join(' ')} ${String(i)}.`;
const text = (i: number) => Array.from({ length: 200 }, (_, j) => sentence(i * 200 + j)).join(' ');

const service = await startService({ env: { JWT_SECRET_KEY: secret, QUIRE_LOG_LEVEL: 'error' } });
try {
  const client = (user: string) => createBenchClient({ url: service.url, secret, user });
  const [heavy, light] = [client('heavy'), client('light')];
  await eachAtOnce(Array.from({ length: DOCUMENTS }), 8, async (_, i) => {
    const from = i % 2 === 0 ? heavy : light;
    const { status } = await from.post('/ingest/text', { content: text(i) }, { prefer: 'wait=60' });
    if (status >= 300) throw new Error(`ingest answered ${String(status)}`);
  });
  const refused = { heavy: 0, light: 0 };
  const ask = async (who: 'heavy' | 'light', i: number) => {
    const started = performance.now();
    const body = { query: sentence(i), k: who === 'heavy' ? 50 : 10 };
    const { status } = await (who === 'heavy' ? heavy : light).post('/retrieve/chunks', body);
    if (status !== 200) refused[who] += 1;
    return performance.now() - started;
  };
  const measure = async () => {
    const all: number[] = [];
    for (let i = 0; i < SEARCHES; i += 1) all.push(await ask('light', i));
    return { p50Ms: round(percentile(all, 0.5)), mostMs: round(percentile(all, 1)) };
  };
  await measure();
  const alone = await measure();
  let [isOver, answered] = [false, 0];
  const lanes = Array.from({ length: HEAVY }, async (_, lane) => {
    for (let i = lane; !isOver; i += 1) {
      await ask('heavy', i);
      answered += 1;
    }
  });
  const pace = async (during: () => Promise<unknown>) => {
    const [started, before] = [performance.now(), answered];
    await during();
    return round(((answered - before) * 1_000) / (performance.now() - started), 0);
  };
  await sleep(2_000);
  const heavyAlonePerSecond = await pace(() => sleep(3_000));
  let beside = alone;
  const heavyPerSecond = await pace(async () => {
    beside = await measure();
  });
  isOver = true;
  await Promise.all(lanes);
  console.table({ alone, beside });
  console.log(JSON.stringify({ alone, beside, heavyAlonePerSecond, heavyPerSecond, refused }));
  heavy.close();
  light.close();
} finally {
  await service.stop();
}
