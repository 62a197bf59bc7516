import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeToken } from '../support/api.js';
import { inShort, outcomesOf } from '../support/batches.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { leastOfThree } from '../support/least-of-three.js';
import { turnsOf } from '../support/turns-here.js';

/** Processor time for one turn of the event loop. Together, the items take ten times as long and more. */
const MAX_MILLISECONDS = 50;
const token = makeToken();
let api: DocumentApi;

beforeAll(async () => {
  api = await startDocumentApi();
});
afterAll(async () => {
  await api.close();
});

interface Sent {
  readonly body: string | FormData;
  readonly headers?: Record<string, string>;
}

const users = (start: string) => Array.from({ length: 1_000 }, (_, i) => `${start}${String(i)}`);
const lists = { readers: users('r'), writers: users('w'), admins: users('a') };

const filesOfOneList = (count: number): Sent => {
  const body = new FormData();
  for (let i = 0; i < count; i += 1) body.append('files', new Blob([`file ${String(i)}`]), 'a.txt');
  body.append('access_control', JSON.stringify(lists));
  return { body };
};
const textsOfLists = (count: number): Sent => ({
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({
    documents: Array.from({ length: count }, (_, i) => ({
      content: `text ${String(i)}`,
      access_control: lists,
    })),
  }),
});

test.each<[string, string, (count: number) => Sent]>([
  ['files', '/ingest/files', filesOfOneList],
  ['texts', '/ingest/batch', textsOfLists],
])('a hundred %s with long access lists leave time to others', async (_, path, make) => {
  const longest = await leastOfThree(async () => {
    const { body: sent, headers: ofBody = {} } = make(100);
    const init = { method: 'POST', body: sent, headers: { ...ofBody, Prefer: 'respond-async' }, token };
    const { longest } = await turnsOf(async () => {
      const { body } = await api.request(path, init);
      expect(new Set(outcomesOf(body).map((each) => inShort(each)[1]))).toEqual(new Set(['queued']));
    });
    return longest;
  }, MAX_MILLISECONDS);
  expect(longest).toBeLessThan(MAX_MILLISECONDS);
});
