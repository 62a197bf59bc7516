import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { keys } from '../../../src/shared/redis/keys.js';
import { matchable } from '../../support/matchable.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { url, redis } = useTestRedis();

const DOCUMENTS = 150;
const MEGABYTE = 1024 ** 2;

/** Three full access lists: three quarters of a megabyte of each record. */
async function fill(): Promise<void> {
  const list = (letter: string) => Array.from({ length: 1_000 }, (_, i) => letter.repeat(240) + String(i));
  const lists = { readers: ['alice', ...list('r')], writers: list('w'), admins: list('a') };
  for (let n = 0; n < DOCUMENTS; n += 1) {
    const record = matchable({ n }, { id: `d${String(n)}`, ...lists });
    const fields = Object.entries(record).map(([name, value]) => [name, JSON.stringify(value)]);
    await redis.hSet(keys.document(record.id), Object.fromEntries(fields) as Record<string, string>);
    await redis.hSet(keys.chunk('g', n), 'content', `text ${String(n)}`);
  }
}

test('hits hold nothing of access lists, and no more than a few records are held while they are read', async () => {
  await fill();
  const module = (path: string) =>
    JSON.stringify(new URL(`../../../dist/shared/${path}`, import.meta.url).href);
  const program = `
    const { createRedis } = await import(${module('redis/client.js')});
    const { createReadHits } = await import(${module('search/read-hits.js')});
    const { createCheckCandidates, takeHits } = await import(${module('search/search.js')});
    const redis = createRedis(${JSON.stringify(url)}, { failFast: true, onError: () => undefined });
    await redis.connect();
    const memory = () => { gc(); const { heapUsed, external } = process.memoryUsage(); return heapUsed + external; };
    const before = memory();
    let peak = 0;
    const run = redis.evalSha.bind(redis);
    redis.evalSha = (...call) => { peak = Math.max(peak, memory() - before); return run(...call); };
    const candidates = Array.from({ length: ${String(DOCUMENTS)} }, (_, n) =>
      ({ documentId: 'd' + n, generation: 'g', number: n, score: 1 }));
    const check = createCheckCandidates(createReadHits(redis), { principal: { id: 'alice' }, filter: null });
    const { hits } = await takeHits(candidates.values(), check, { k: ${String(DOCUMENTS)}, per: 'chunk' });
    console.log(JSON.stringify({ hits: hits.length, peak, held: memory() - before, last: [hits.at(-1).content, hits.at(-1).record.metadata] }));
    redis.destroy();`;
  const options = ['--expose-gc', '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, options);
  // @NOTE `any` of JSON.parse: the values that the lines above print
  const seen = JSON.parse(stdout) as { hits: number; peak: number; held: number; last: unknown };
  expect(seen.hits).toBe(DOCUMENTS);
  expect(seen.last).toEqual([`text ${String(DOCUMENTS - 1)}`, { n: DOCUMENTS - 1 }]);
  // Whole records held 126 MB; memory that was loaded and compiled meanwhile counts as well.
  expect(seen.held).toBeLessThan(8 * MEGABYTE);
  expect(seen.peak).toBeLessThan(12 * MEGABYTE);
}, 60_000);
