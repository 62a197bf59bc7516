import { expect, test } from '@jest/globals';
import { rememberQueries } from '../../../src/shared/models/query-vectors.js';

/** Counts what the model is asked, and lets the test set the time. */
function setUp({ seconds = 60, dimensions = 4 } = {}) {
  const asked: string[] = [];
  const clock = { milliseconds: 0 };
  const embedding = {
    embedQuery: (text: string) => {
      asked.push(text);
      if (text === 'refused') return Promise.reject(new Error('refused'));
      return Promise.resolve({ vector: new Float32Array(dimensions).fill(text.length), tokens: text.length });
    },
  };
  const queries = rememberQueries(embedding, { seconds, now: () => clock.milliseconds });
  const ask = (callerId: string, text: string) => queries.of(callerId).embedQuery(text);
  return { asked, clock, ask };
}

test('a repeated query of a caller has the same vector and tokens, without the model', async () => {
  const { asked, ask } = setUp();
  const first = await ask('ann', 'heron');
  const second = await ask('ann', 'heron');
  expect(second).toEqual(first);
  expect(asked).toEqual(['heron']);
});

test('another caller does not notice that the query was asked', async () => {
  const { asked, ask } = setUp();
  await ask('ann', 'heron');
  await ask('bob', 'heron');
  expect(asked).toEqual(['heron', 'heron']);
});

test('a vector that a search hands over to a thread stays whole here', async () => {
  const { ask } = setUp();
  const { vector } = await ask('ann', 'heron');
  structuredClone(vector, { transfer: [vector.buffer as ArrayBuffer] });
  expect(vector).toHaveLength(0);
  const again = await ask('ann', 'heron');
  expect([...again.vector]).toEqual([5, 5, 5, 5]);
});

test('it is forgotten when its time is over, however often it was asked', async () => {
  const { asked, clock, ask } = setUp({ seconds: 10 });
  await ask('ann', 'heron');
  clock.milliseconds = 9_999;
  await ask('ann', 'heron');
  clock.milliseconds = 10_000;
  await ask('ann', 'heron');
  expect(asked).toEqual(['heron', 'heron']);
});

test('a failure is not remembered', async () => {
  const { asked, ask } = setUp();
  await expect(ask('ann', 'refused')).rejects.toThrow('refused');
  await expect(ask('ann', 'refused')).rejects.toThrow('refused');
  expect(asked).toEqual(['refused', 'refused']);
});

test('a caller with many queries loses the oldest of them, and nobody else does', async () => {
  const { asked, ask } = setUp();
  await ask('bob', 'heron');
  for (let i = 0; i < 101; i += 1) await ask('ann', `query ${String(i)}`);
  asked.length = 0;
  await ask('bob', 'heron');
  await ask('ann', 'query 1');
  expect(asked).toEqual([]);
  await ask('ann', 'query 0');
  expect(asked).toEqual(['query 0']);
});

test('the least recent caller is forgotten first, by number of queries and by bytes', async () => {
  const many = setUp();
  for (let i = 0; i < 4_097; i += 1) await many.ask(`caller ${String(i)}`, 'heron');
  many.asked.length = 0;
  await many.ask('caller 1', 'heron');
  expect(many.asked).toEqual([]);
  await many.ask('caller 0', 'heron');
  expect(many.asked).toEqual(['heron']);

  const large = setUp({ dimensions: 16_384 });
  for (let i = 0; i < 257; i += 1) await large.ask(`caller ${String(i)}`, 'heron');
  large.asked.length = 0;
  await large.ask('caller 1', 'heron');
  expect(large.asked).toEqual([]);
  await large.ask('caller 0', 'heron');
  expect(large.asked).toEqual(['heron']);
});
