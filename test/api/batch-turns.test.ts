import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { jsonBody, makeToken } from '../support/api.js';
import { inShort, outcomesOf } from '../support/batches.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { leastOfThree } from '../support/least-of-three.js';
import { turnsOf } from '../support/turns-here.js';

/** Of the processor, for one turn of the event loop. Together, the items take ten times as long and more. */
const MAX_MILLISECONDS = 50;
const token = makeToken();
let api: DocumentApi;

beforeAll(async () => {
  api = await startDocumentApi();
});
afterAll(async () => {
  await api.close();
});

const users = (start: string) => Array.from({ length: 1_000 }, (_, i) => `${start}${String(i)}`);
const lists = { readers: users('r'), writers: users('w'), admins: users('a') };

const filesOfOneList = (count: number): RequestInit => {
  const body = new FormData();
  for (let i = 0; i < count; i += 1) body.append('files', new Blob([`file ${String(i)}`]), 'a.txt');
  body.append('access_control', JSON.stringify(lists));
  return { method: 'POST', body };
};
const textsOfLists = (count: number): RequestInit =>
  jsonBody({
    documents: Array.from({ length: count }, (_, i) => ({
      content: `text ${String(i)}`,
      access_control: lists,
    })),
  });

test.each<[string, string, (count: number) => RequestInit]>([
  ['files', '/ingest/files', filesOfOneList],
  ['texts', '/ingest/batch', textsOfLists],
])('a hundred %s with long access lists leave time to others', async (_, path, make) => {
  const longest = await leastOfThree(async () => {
    const init = make(100);
    const headers = { ...init.headers, Prefer: 'respond-async' };
    const { longest } = await turnsOf(async () => {
      const { body } = await api.request(path, { ...init, headers, token });
      expect(new Set(outcomesOf(body).map((each) => inShort(each)[1]))).toEqual(new Set(['queued']));
    });
    return longest;
  }, MAX_MILLISECONDS);
  expect(longest).toBeLessThan(MAX_MILLISECONDS);
});
