import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { idsIn, outcomesIn, postBatch, postFiles, postLines } from '../support/batch-requests.js';
import { inShort } from '../support/batches.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { until } from '../support/until.js';

let api: DocumentApi;

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 3 });
});
afterAll(async () => {
  await api.close();
});

test('what a whole batch says holds for the texts that say nothing else', async () => {
  const documents = [
    { content: 'a' },
    { content: 'a' },
    { content: 'a', on_duplicate: 'new' },
    { content: 'a', on_duplicate: null },
  ];
  const answer = await postBatch(api, { documents, on_duplicate: 'return' }, { as: 'whole' });
  const [first, second, third, fourth] = idsIn(answer);
  expect([second, fourth]).toEqual([first, first]);
  expect(third).not.toBe(first);
  const wrong = await postBatch(api, { documents, on_duplicate: 'ignore' }, { as: 'whole' });
  expect(wrong).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ['body', 'on_duplicate'], type: 'type_error.enum' }] },
  });
});

test('one word holds for all files of a form', async () => {
  const files = [
    ['a.txt', 'a'],
    ['b.txt', 'a'],
  ] as const;
  const send = (word: string) =>
    postFiles(api, { files, fields: { on_duplicate: word } }, { as: 'one word' });
  const [first, second] = idsIn(await send('return'));
  expect(second).toBe(first);
  expect(outcomesIn(await send('reject')).map(inShort)).toEqual([
    [0, 'value_error.duplicate'],
    [1, 'value_error.duplicate'],
  ]);
  expect(await send('["new"]')).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ['body', 'on_duplicate'] }] },
  });
});

test('a text is found that needed a step of its own, and one in a group of lines before', async () => {
  const readers = Array.from({ length: 40 }, (_, i) => `reader ${String(i)}`);
  const documents = [
    { content: 'a', access_control: { readers } },
    { content: 'a', on_duplicate: 'return' },
  ];
  const [first, second] = idsIn(await postBatch(api, { documents }, { as: 'orderly' }));
  expect(second).toBe(first);
  const lines = Array.from({ length: 400 }, (_, i) => ({
    content: `l ${String(i % 200)}`,
    on_duplicate: 'return',
  }));
  const ids = idsIn(await postLines(api, lines, { as: 'orderly' }));
  expect(ids.slice(200)).toEqual(ids.slice(0, 200));
  expect(new Set(ids).size).toBe(200);
});

test('batches that want new documents ask for nothing else', async () => {
  const documents = Array.from({ length: 128 }, (_, i) => ({ content: `c ${String(i)}` }));
  await postBatch(api, { documents }, { as: 'plain' });
  const seen: string[] = [];
  const monitor = api.redis.duplicate();
  await monitor.connect();
  await monitor.monitor((line) => seen.push(line));
  const id = idsIn(await postBatch(api, { documents }, { as: 'plain' }))[127] ?? '';
  await until(() => Promise.resolve(seen.some((line) => line.includes(id))));
  monitor.destroy();
  // Commands within scripts are not counted.
  const commands = seen.filter((line) => !line.includes(' lua] '));
  expect(commands.some((line) => line.includes(id))).toBe(true);
  // They would look for contents, for items of an earlier request, or for keys.
  const looks = commands.filter((line) => /\] "\w+" "quire:(?:content|document|idempotency)/.test(line));
  expect(looks.map((line) => line.slice(0, 100))).toEqual([]);
});
