import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { UnavailableError } from '../../src/shared/errors.js';
import { keys } from '../../src/shared/redis/keys.js';
import type { ApiAnswer } from '../support/api.js';
import { idsIn, outcomesIn, waysOfSending } from '../support/batch-requests.js';
import { inShort } from '../support/batches.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { documentsOf, newKey } from '../support/keyed-requests.js';
import { playIngest } from '../support/play-worker.js';

let api: DocumentApi;
let isStorageAway: boolean;

beforeEach(async () => {
  isStorageAway = false;
  api = await startDocumentApi({
    limits: { maxWaitingPerCaller: 5 },
    wrapStorage: (storage) => ({
      ...storage,
      put: (key, bytes) =>
        isStorageAway ? Promise.reject(new UnavailableError('storage')) : storage.put(key, bytes),
    }),
  });
});
afterEach(async () => {
  await api.close();
});

const ways = waysOfSending(() => api);

const typesOf = (answer: ApiAnswer) => outcomesIn(answer).map((outcome) => inShort(outcome)[1]);

test.each(ways)('items for which there was no room go in with the same key, %s', async (_, send) => {
  const texts = Array.from({ length: 8 }, (_each, i) => `text ${String(i)}`);
  const asked = { as: 'alice', key: newKey() };
  const first = await send(texts, asked);
  const tooMany = 'try_later.too_many';
  expect(typesOf(first)).toEqual([...Array.from({ length: 5 }, () => 'queued'), tooMany, tooMany, tooMany]);
  expect(await api.redis.hExists(keys.idempotency('alice', asked.key), 'answer')).toBe(0);
  expect((await send(texts, asked)).status).toBe(429);
  const ids = idsIn(first).slice(0, 5);
  for (const id of ids.slice(0, 2)) await playIngest(api, id, ['a text']);
  const second = await send(texts, asked);
  expect(typesOf(second)).toEqual([
    'completed',
    'completed',
    'queued',
    'queued',
    'queued',
    'queued',
    'queued',
    tooMany,
  ]);
  expect(idsIn(second).slice(0, 5)).toEqual(ids);
  await playIngest(api, ids[2] ?? '', ['a text']);
  const third = await send(texts, asked);
  expect(typesOf(third)).not.toContain(tooMany);
  expect(idsIn(third).slice(0, 7)).toEqual(idsIn(second).slice(0, 7));
  expect((await documentsOf(api, 'alice')).sort()).toEqual(idsIn(third).sort());
});

test.each(ways)('items for which the storage was away go in with the same key, %s', async (way, send) => {
  const short = way === 'in a form' ? [] : ['short'];
  const texts = ['long '.repeat(2_000), ...short, 'longer '.repeat(2_000)];
  const asked = { as: 'alice', key: newKey() };
  isStorageAway = true;
  const away = 'try_later.unavailable';
  expect(typesOf(await send(texts, asked))).toEqual([away, ...short.map(() => 'queued'), away]);
  isStorageAway = false;
  const again = await send(texts, asked);
  expect(typesOf(again)).toEqual(texts.map(() => 'queued'));
  expect((await documentsOf(api, 'alice')).sort()).toEqual(idsIn(again).sort());
  expect(await api.storedFiles()).toHaveLength(2);
});
