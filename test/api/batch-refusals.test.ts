import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createBodyBudget, type BodyBudget } from '../../src/api/http/request/body-budget.js';
import { countUnfinishedIngests } from '../../src/shared/documents/counts.js';
import { UnavailableError } from '../../src/shared/errors.js';
import { jsonBody, makeToken, type ApiAnswer } from '../support/api.js';
import { inShort, linesOf, ndjson, outcomesOf, type WireOutcome } from '../support/batches.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { openRaw } from '../support/raw-http.js';
import { until } from '../support/until.js';

const MEGABYTE = 1024 ** 2;
const token = makeToken();
let api: DocumentApi;
let stopping: AbortController;
let isStorageAway: boolean;
let bodies: BodyBudget;

beforeEach(async () => {
  stopping = new AbortController();
  isStorageAway = false;
  bodies = createBodyBudget({ maxBytes: 16 * MEGABYTE, shareBytes: 9 * MEGABYTE });
  api = await startDocumentApi({
    limits: { maxWaitingPerCaller: 5, maxWaiting: 7 },
    stopping: stopping.signal,
    bodies,
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

const prefer = { Prefer: 'respond-async' };
/** So long that the text is stored in a file. */
const LONG = 'long '.repeat(2_000);
const texts = (count: number, start = 'text') =>
  Array.from({ length: count }, (_, i) => ({ content: `${start} ${String(i)}` }));
const inJson = async (count: number, start?: string, as = token): Promise<ApiAnswer> => {
  const init = jsonBody({ documents: texts(count, start) });
  return api.request('/ingest/batch', {
    ...init,
    headers: { 'Content-Type': 'application/json', ...prefer },
    token: as,
  });
};
const inLines = (body: string, as = token): Promise<ApiAnswer> =>
  api.request('/ingest/batch', {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/x-ndjson', ...prefer },
    token: as,
  });
const inForm = (count: number, start?: string): Promise<ApiAnswer> => {
  const form = new FormData();
  for (const { content } of texts(count, start)) form.append('files', new Blob([content]), 'a.txt');
  return api.request('/ingest/files', { method: 'POST', body: form, headers: prefer, token });
};
const inLinesOf = (count: number, start?: string) => inLines(ndjson(texts(count, start)));
const outcomes = ({ text }: ApiAnswer): WireOutcome[] =>
  text.startsWith('[') ? outcomesOf(JSON.parse(text)) : linesOf(text);

const expected = (good: number, error: string, bad: number) => [
  ...Array.from({ length: good }, (_, i) => [i, 'queued']),
  ...Array.from({ length: bad }, (_, i) => [good + i, error]),
];

const ways: [string, (count: number, start?: string) => Promise<ApiAnswer>][] = [
  ['in JSON', inJson],
  ['in lines', inLinesOf],
  ['in a form', inForm],
];

describe.each(ways)('a batch %s', (_, ingest) => {
  test('goes in as far as the caller may, and says of the rest when to come again', async () => {
    const found = outcomes(await ingest(8));
    expect(found.map(inShort)).toEqual(expected(5, 'try_later.too_many', 3));
    expect(found[7]?.error).toMatchObject({ loc: ['body'], retry_after: 30 });
    expect(await ingest(1)).toMatchObject({ status: 429 });
  });

  test('goes in as far as there is room for all callers', async () => {
    await inJson(4, undefined, makeToken({ entity_id: 'bob' }));
    expect(outcomes(await ingest(4)).map(inShort)).toEqual(expected(3, 'try_later.unavailable', 1));
    expect(await ingest(1)).toMatchObject({ status: 503 });
  });

  test('says of each item that the storage is away, and counts one failed operation for each', async () => {
    isStorageAway = true;
    expect(outcomes(await ingest(3, LONG)).map(inShort)).toEqual(expected(0, 'try_later.unavailable', 3));
    const recent = await api.usage.recent('alice', { limit: 10 });
    expect(recent.map(({ status }) => status)).toEqual(['error', 'error', 'error']);
    isStorageAway = false;
    expect(outcomes(await ingest(5)).map(inShort)).toEqual(expected(5, '', 0));
  });
});

test.each<[string, (count: number) => Promise<ApiAnswer>]>([
  ['in JSON', inJson],
  ['in lines', inLinesOf],
])('short texts of a batch %s go in while the storage is away', async (_, ingest) => {
  isStorageAway = true;
  const found = outcomes(await ingest(5));
  expect(found.map(inShort)).toEqual(expected(5, '', 0));
  for (const [i, { document_id: id = '' }] of found.entries())
    expect((await api.request(`/documents/${id}/download`, { token })).text).toBe(`text ${String(i)}`);
});

describe('a stream', () => {
  test('ends in order when the service stops, with the line from which to go on', async () => {
    const waiting = await countUnfinishedIngests(api.redis);
    const { socket, until: seen } = await openRaw(api.port);
    socket.write(
      `${[
        'POST /ingest/batch HTTP/1.1',
        'Host: localhost',
        `Authorization: Bearer ${token}`,
        'Content-Type: application/x-ndjson',
        'Prefer: wait=100',
        'Content-Length: 100000',
      ].join('\r\n')}\r\n\r\n${ndjson(texts(2))}{"content": "half`,
    );
    await until(async () => (await countUnfinishedIngests(api.redis)) === waiting + 2);
    stopping.abort();
    const answer = await seen(/\r\n0\r\n\r\n$/);
    expect(answer).toMatch(/"index":0,"status":"queued"[^]*"index":1,"status":"queued"/);
    expect(answer).toMatch(/"index":2,"error":\{"loc":\["body"\],"msg":"The service is stopping"/);
    socket.destroy();
  });

  test('refuses a line for which the caller has no memory left, and takes the lines after it', async () => {
    const { socket } = await openRaw(api.port);
    const held = 6 * MEGABYTE;
    socket.write(
      `${[
        'POST /ingest/text HTTP/1.1',
        'Host: localhost',
        `Authorization: Bearer ${token}`,
        'Content-Type: application/json',
        `Content-Length: ${String(held + 1)}`,
      ].join('\r\n')}\r\n\r\n`,
    );
    socket.write('x'.repeat(held));
    const large = ndjson([{ content: 'x'.repeat(5 * MEGABYTE) }]);
    const lines = ndjson(texts(1)) + large + ndjson(texts(1));
    // A claim is counted in steps of 16 KiB.
    await until(() => bodies.heldBytes() >= held);
    const answer = await inLines(lines);
    expect(linesOf(answer.text).map(inShort)).toEqual([
      [0, 'queued'],
      [1, 'try_later.unavailable'],
      [2, 'queued'],
    ]);
    const bob = await inLines(large, makeToken({ entity_id: 'bob' }));
    expect(linesOf(bob.text).map(inShort)).toEqual([[0, 'queued']]);
    socket.destroy();
  });
});
