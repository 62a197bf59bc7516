import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { remove } from '../../src/shared/documents/transitions.js';
import { keys } from '../../src/shared/redis/keys.js';
import { makeToken, type ApiAnswer } from '../support/api.js';
import {
  idsIn,
  outcomesIn,
  postBatch,
  postLines,
  textsOf,
  waysOfSending,
  type AskedBatch,
  type SendItems,
} from '../support/batch-requests.js';
import { inShort } from '../support/batches.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { documentsOf, isReplay, newKey } from '../support/keyed-requests.js';
import { playFailure, playIngest } from '../support/play-worker.js';
import { until } from '../support/until.js';

let api: DocumentApi;

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 3, maxBatchDocuments: 3_000 });
});
afterAll(async () => {
  await api.close();
});

/** Lines are answered one by one, and no answer to all of them is remembered. */
const wholes = waysOfSending(() => api).filter(([way]) => way !== 'in lines');

function mentionsKey(answer: ApiAnswer): void {
  expect(answer.status).toBe(422);
  expect(answer.body).toMatchObject({
    detail: [{ loc: ['header', 'Idempotency-Key'], type: 'value_error' }],
  });
}

const playAll = async (ids: readonly string[]) => {
  for (const id of ids) await playIngest(api, id, ['a text']);
};

describe.each(wholes)('a batch %s', (way, send) => {
  const as = (name: string) => `${name} ${way}`;

  test('with the same key and the same body is answered with the first answer', async () => {
    const asked = { key: newKey(), as: as('once') };
    const first = await send(['one', 'two'], asked);
    expect([first.status, isReplay(first)]).toEqual([202, false]);
    await playAll(idsIn(first));
    const files = (await api.storedFiles()).length;
    const second = await send(['one', 'two'], asked);
    expect([second.status, isReplay(second)]).toEqual([202, true]);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('preference-applied')).toBe('respond-async');
    expect((await documentsOf(api, as('once'))).sort()).toEqual(idsIn(first).sort());
    expect((await api.storedFiles()).length).toBe(files);
  });

  test('with the same key and another body is a 422', async () => {
    const asked = { key: newKey(), as: as('other') };
    const first = await send(['one', 'two'], asked);
    const files = (await api.storedFiles()).length;
    mentionsKey(await send(['one', 'three'], asked));
    mentionsKey(await send(['two', 'one'], asked));
    mentionsKey(await send(['one', 'two', 'three'], asked));
    mentionsKey(await postLines(api, textsOf(1), asked));
    expect((await api.storedFiles()).length).toBe(files);
    expect((await documentsOf(api, as('other'))).sort()).toEqual(idsIn(first).sort());
  });

  test('has keys of each caller', async () => {
    const key = newKey();
    const [one, two] = [
      await send(['a', 'b'], { key, as: as('caller 1') }),
      await send(['a', 'c'], { key, as: as('caller 2') }),
    ];
    expect([one.status, two.status, isReplay(two)]).toEqual([202, 202, false]);
    expect(new Set([...idsIn(one), ...idsIn(two)]).size).toBe(4);
  });

  test('is 409 while the first one is under way, and makes each document once of many', async () => {
    const asked = { key: newKey(), as: as('slow'), prefer: 'wait=2' };
    const first = send(['a', 'b'], asked);
    await until(async () => (await documentsOf(api, as('slow'))).length === 2);
    const second = await send(['a', 'b'], asked);
    expect(second.status).toBe(409);
    expect(second.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect((await first).status).toBe(202);
    const many = { key: newKey(), as: as('many'), prefer: 'wait=1' };
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(['a', 'b', 'c'], many)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202, 409]));
    expect(await documentsOf(api, as('many'))).toHaveLength(3);
  });

  test('whose client left is answered from its documents, as they are by then', async () => {
    const asked = { key: newKey(), as: as('leaver') };
    const ids = await leave(send, ['a', 'b', 'c'], asked);
    await playAll(ids.slice(0, 1));
    const again = await send(['a', 'b', 'c'], asked);
    expect([again.status, isReplay(again)]).toEqual([202, true]);
    expect(idsIn(again).sort()).toEqual([...ids].sort());
    expect(outcomesIn(again).filter(({ status }) => status === 'completed')).toHaveLength(1);
    await playAll(ids.slice(1));
    // The answer of the second request is the first one that was given.
    expect((await send(['a', 'b', 'c'], asked)).body).toEqual(again.body);
    expect(await documentsOf(api, asked.as)).toHaveLength(3);
    mentionsKey(await send(['a', 'b', 'd'], asked));
  });

  test('does not bring a document back that was deleted since, and gives no state to who may not read it', async () => {
    const asked = { key: newKey(), as: as('deleter') };
    const [gone = '', moved = '', kept = ''] = await leave(send, ['a', 'b', 'c'], asked);
    await api.records.update(gone, remove);
    await api.records.update(moved, (record) => ({
      record: { ...record, readers: ['x'], writers: ['x'], admins: ['x'] },
    }));
    const again = await send(['a', 'b', 'c'], asked);
    const told = outcomesIn(again).map(({ document_id: id, error }) => error?.msg ?? id);
    expect(told.sort()).toEqual(['Document not found', 'Insufficient permissions', kept].sort());
    expect(again.text).not.toContain(moved);
    expect(await api.records.read(gone)).toBeNull();
  });

  test('begins those documents anew that failed by our fault, and no others', async () => {
    const asked = { key: newKey(), as: as('failing'), prefer: 'wait=3' };
    const first = send(['a', 'b', 'c'], asked);
    await until(async () => (await documentsOf(api, asked.as)).length === 3);
    const ids = await documentsOf(api, asked.as);
    const [ours = '', theirs = '', done = ''] = ids;
    await playFailure(api, ours, 'provider');
    await playFailure(api, theirs, 'no_text');
    await playIngest(api, done, ['c']);
    const types = outcomesIn(await first).map(({ status, error }) => error?.type ?? status);
    expect(types.sort()).toEqual(['completed', 'ingest_error.no_text', 'ingest_error.provider']);
    const second = send(['a', 'b', 'c'], asked);
    await until(async () => (await api.records.read(ours))?.status === 'queued');
    await playIngest(api, ours, ['a']);
    expect(idsIn(await second)).toEqual(idsIn(await first));
    const shorts = outcomesIn(await second).map(({ status, error }) => error?.type ?? status);
    expect(shorts.sort()).toEqual(['completed', 'completed', 'ingest_error.no_text']);
    // Now nothing can change any more, and the answer is remembered.
    expect((await api.redis.hGet(keys.idempotency(asked.as, asked.key), 'answer')) !== null).toBe(true);
  });

  test('of which nothing went in leaves the key free', async () => {
    const asked = { key: newKey(), as: as('nothing') };
    const refused = await postBatch(api, { documents: 7 }, asked);
    expect(refused.status).toBe(422);
    expect(await api.redis.exists(keys.idempotency(asked.as, asked.key))).toBe(0);
    expect((await send(['a'], asked)).status).toBe(202);
  });
});

/** Sends a batch whose client leaves before the answer, and returns the documents that it has made. */
async function leave(
  send: SendItems,
  texts: readonly string[],
  asked: AskedBatch & { key: string },
): Promise<string[]> {
  const leaving = new AbortController();
  const sent = send(texts, { ...asked, prefer: 'wait=100', signal: leaving.signal });
  await until(async () => (await documentsOf(api, asked.as)).length === texts.length);
  leaving.abort();
  await expect(sent).rejects.toThrow();
  const place = keys.idempotency(asked.as, asked.key);
  await until(async () => (await api.redis.hGet(place, 'until')) === '0');
  return documentsOf(api, asked.as);
}

test('an answer for three thousand texts is too large to be remembered, and made of the documents', async () => {
  const asked = { key: newKey(), as: 'large' };
  const documents = textsOf(3_000);
  const first = await postBatch(api, { documents }, asked);
  const place = keys.idempotency(asked.as, asked.key);
  expect(await api.redis.hExists(place, 'answer')).toBe(0);
  const again = await postBatch(api, { documents }, asked);
  expect([again.status, isReplay(again)]).toEqual([202, true]);
  expect(again.body).toEqual(first.body);
  expect(await api.redis.zCard(keys.contentHashes('large'))).toBe(3_000);
  expect(inShort(outcomesIn(again)[2_999] ?? { index: 0 })).toEqual([2_999, 'queued']);
});

test('an answer for a thousand texts is remembered', async () => {
  const asked = { key: newKey(), as: 'thousand' };
  await postBatch(api, { documents: textsOf(1_000) }, asked);
  const place = keys.idempotency(asked.as, asked.key);
  expect(await api.redis.hExists(place, 'answer')).toBe(1);
  expect(await api.redis.memoryUsage(place)).toBeLessThan(48_000);
});

test('a key of a single ingest is none of a batch', async () => {
  const asked = { key: newKey(), as: 'mixer' };
  const single = await api.request('/ingest/text', {
    method: 'POST',
    body: JSON.stringify({ content: 'a' }),
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': asked.key, Prefer: 'respond-async' },
    token: makeToken({ entity_id: asked.as }),
  });
  expect(single.status).toBe(202);
  for (const [, send] of waysOfSending(() => api)) mentionsKey(await send(['a'], asked));
});
