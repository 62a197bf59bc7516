import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { remove } from '../../src/shared/documents/transitions.js';
import { keys } from '../../src/shared/redis/keys.js';
import { makeToken } from '../support/api.js';
import { idsIn, outcomesIn, postBatch, postLines, textsOf } from '../support/batch-requests.js';
import { inShort, ndjson } from '../support/batches.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { documentsOf, isReplay, newKey } from '../support/keyed-requests.js';
import { playIngest } from '../support/play-worker.js';
import { openRaw } from '../support/raw-http.js';
import { until } from '../support/until.js';

let api: DocumentApi;

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 3 });
});
afterAll(async () => {
  await api.close();
});

const newAsked = (as: string) => ({ key: newKey(), as });

const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

/** Begins a stream, which the caller goes on with. */
async function begin({ key, as }: { key: string; as: string }) {
  const raw = await openRaw(api.port);
  const head = [
    'POST /ingest/batch HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${makeToken({ entity_id: as })}`,
    `Idempotency-Key: ${key}`,
    'Content-Type: application/x-ndjson',
    'Prefer: respond-async',
    'Transfer-Encoding: chunked',
  ];
  raw.socket.write(`${head.join('\r\n')}\r\n\r\n`);
  return raw;
}

const untilFree = ({ key, as }: { key: string; as: string }) =>
  until(async () => (await api.redis.hGet(keys.idempotency(as, key), 'until')) === '0');

test('a stream that was finished is answered again from its documents, and nothing is written', async () => {
  const asked = newAsked('finished');
  const first = await postLines(api, textsOf(300), asked);
  expect([first.status, isReplay(first)]).toEqual([202, false]);
  const ids = idsIn(first);
  await playIngest(api, ids[7] ?? '', ['a text']);
  const before = await api.redis.get(keys.sequence);
  const second = await postLines(api, textsOf(300), asked);
  expect([second.status, isReplay(second)]).toEqual([202, true]);
  expect(idsIn(second)).toEqual(ids);
  expect(outcomesIn(second).filter(({ status }) => status === 'completed')).toHaveLength(1);
  expect(await api.redis.get(keys.sequence)).toBe(before);
  expect(await documentsOf(api, 'finished')).toHaveLength(300);
});

test('a stream that broke off in the middle goes on with the same key', async () => {
  const asked = newAsked('broken');
  const lines = textsOf(200);
  const raw = await begin(asked);
  raw.socket.write(chunk(ndjson(lines.slice(0, 90))) + chunk('{"content": "half of'));
  await raw.until(/"index":89,/);
  raw.socket.destroy();
  await untilFree(asked);
  const written = await documentsOf(api, 'broken');
  expect(written).toHaveLength(90);
  const again = await postLines(api, lines, asked);
  expect(outcomesIn(again).map(inShort)).toEqual(lines.map((_, i) => [i, 'queued']));
  expect(idsIn(again).slice(0, 90).sort()).toEqual(written.sort());
  expect((await documentsOf(api, 'broken')).sort()).toEqual(idsIn(again).sort());
});

test('another line under the same number is refused, and the others are answered', async () => {
  const asked = newAsked('changer');
  const first = await postLines(api, textsOf(3), asked);
  const changed = textsOf(4).map((each, i) => (i === 1 ? { ...each, metadata: { a: 1 } } : each));
  const again = await postLines(api, changed, asked);
  const [zero, one, two, three] = outcomesIn(again);
  expect([zero?.document_id, two?.document_id]).toEqual([idsIn(first)[0], idsIn(first)[2]]);
  expect(one).toEqual({
    index: 1,
    error: {
      loc: ['header', 'Idempotency-Key'],
      msg: 'this key was used for another line of this number already',
      type: 'value_error',
    },
  });
  // A line after the end of the first stream is a new one.
  expect(three?.status).toBe('queued');
  expect(await documentsOf(api, 'changer')).toHaveLength(4);
});

test('a line that was wrong can be sent again as it should be, and blank lines keep their numbers', async () => {
  const asked = newAsked('mender');
  const first = await postLines(api, '{"content": "a"}\n\n{"content": 7}\n{"content": "d"}\n', asked);
  expect(outcomesIn(first).map(inShort)).toEqual([
    [0, 'queued'],
    [2, 'type_error.str'],
    [3, 'queued'],
  ]);
  const second = await postLines(api, '{"content": "a"}\n\n{"content": "c"}\n{"content": "d"}\n', asked);
  expect(outcomesIn(second).map(inShort)).toEqual([
    [0, 'queued'],
    [2, 'queued'],
    [3, 'queued'],
  ]);
  expect([idsIn(second)[0], idsIn(second)[2]]).toEqual([idsIn(first)[0], idsIn(first)[2]]);
  expect(await documentsOf(api, 'mender')).toHaveLength(3);
});

test('a line whose document was deleted since does not come back', async () => {
  const asked = newAsked('deleter');
  const [gone = '', kept = ''] = idsIn(await postLines(api, textsOf(2), asked));
  await api.records.update(gone, remove);
  const again = outcomesIn(await postLines(api, textsOf(2), asked));
  expect(again[0]?.error?.msg).toBe('Document not found');
  expect(again[1]?.document_id).toBe(kept);
  expect(await documentsOf(api, 'deleter')).toEqual([kept]);
});

test('409 while the stream is under way, 422 for a body in JSON, and other callers have other keys', async () => {
  const asked = newAsked('running');
  const raw = await begin(asked);
  raw.socket.write(chunk(ndjson(textsOf(1))));
  await raw.until(/"index":0,/);
  const second = await postLines(api, textsOf(1), asked);
  expect(second.status).toBe(409);
  expect(second.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  const other = { ...asked, as: 'another runner' };
  expect((await postLines(api, textsOf(1), other)).status).toBe(202);
  raw.socket.write('0\r\n\r\n');
  await raw.until(/\r\n0\r\n\r\n$/);
  await untilFree(asked);
  raw.socket.destroy();
  const json = await postBatch(api, { documents: textsOf(1) }, asked);
  expect(json).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ['header', 'Idempotency-Key'] }] },
  });
  expect(await documentsOf(api, 'running')).toHaveLength(1);
  expect(await documentsOf(api, 'another runner')).toHaveLength(1);
});

test('a key whose lines were all refused is free again', async () => {
  const asked = newAsked('refused');
  expect(outcomesIn(await postLines(api, '7\n', asked)).map(inShort)).toEqual([[0, 'type_error.dict']]);
  await until(async () => (await api.redis.exists(keys.idempotency(asked.as, asked.key))) === 0);
  expect(Object.values(await api.redis.hGetAll(keys.idempotencyBytes('refused')))).toEqual(['0']);
});
