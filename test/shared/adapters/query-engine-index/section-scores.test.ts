import { expect, test } from '@jest/globals';
import {
  scoreWithSections,
  type OwnScore,
} from '../../../../src/shared/adapters/query-engine-index/section-scores.js';
import { keys } from '../../../../src/shared/redis/keys.js';
import { analyzeText } from '../../../../src/shared/text/list-terms.js';
import { packTerms } from '../../../../src/index/scoring/packed-terms.js';
import { scoresOfDocument } from '../../../support/section-scores.js';
import { turnsOf } from '../../../support/turns-here.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { redis } = useTestRedis();
const [DOCUMENTS, CHUNKS] = [800, 20];
const query = {
  terms: Uint32Array.from([...analyzeText('harbour crane ledger').counts.keys()]).sort(),
  weights: Float64Array.of(0.5, 0.3, 0.2),
  averageLength: 8,
};
const texts = ['the harbour crane', 'a ledger of the harbour', 'wagons and more wagons in a row'];
const packed = texts.map((text) => packTerms(analyzeText(text)));
const termsOf = (number: number) => packed[number % packed.length] ?? new Uint8Array();
const generations = Array.from({ length: DOCUMENTS }, (_, i) => `document-${String(i)}.1.1`);

const writeDocuments = async () => {
  for (const generation of generations) {
    const writes = redis.multi().hSet(keys.generation(generation), 'chunks', CHUNKS);
    for (let number = 0; number < CHUNKS; number += 1)
      writes.hSet(keys.chunk(generation, number), 'terms', Buffer.from(termsOf(number)));
    await writes.exec();
  }
};
const scores = scoresOfDocument(
  Array.from({ length: CHUNKS }, (_, number) => termsOf(number)),
  query,
);
const chunkOf = (generation: string, number: number): OwnScore => ({
  generation,
  number,
  own: scores[number]?.own ?? NaN,
  terms: termsOf(number),
});
const expected = (chunks: readonly OwnScore[]) => chunks.map(({ number }) => scores[number]?.score ?? NaN);

const calls = async () => Number(/cmdstat_hget:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);

test('many chunks are scored with turns for others in between, whether the others of their sections are known or not', async () => {
  await writeDocuments();
  const all = generations.flatMap((each) =>
    Array.from({ length: CHUNKS }, (_, number) => chunkOf(each, number)),
  );
  const some = all.filter(({ number }) => number % 4 === 0);
  for (const chunks of [all, some]) {
    let longest = Infinity;
    for (let tries = 0; tries < 3; tries += 1) {
      let scored: Float64Array = new Float64Array();
      const turns = await turnsOf(async () => {
        scored = await scoreWithSections(redis, chunks, { query });
      });
      expect([...scored]).toEqual(expected(chunks));
      longest = Math.min(longest, turns.longest);
    }
    expect(longest).toBeLessThan(30);
  }
});

test('nothing more is read for an asker who has gone', async () => {
  await writeDocuments();
  const chunks = generations.map((each) => chunkOf(each, 0));
  const leaving = new AbortController();
  const before = await calls();
  const scored = scoreWithSections(redis, chunks, { query, signal: leaving.signal });
  leaving.abort(new Error('gone'));
  await expect(scored).rejects.toThrow('gone');
  expect((await calls()) - before).toBeLessThan(1_000);
});

test('a chunk that has gone has no score, whatever is left of its section', async () => {
  await writeDocuments();
  const [generation = ''] = generations;
  const gone = { generation, number: 1, own: NaN, terms: new Uint8Array() };
  const [kept, none] = await scoreWithSections(redis, [chunkOf(generation, 0), gone], { query });
  expect(kept).toBeGreaterThan(0);
  expect(none).toBeNaN();
});
