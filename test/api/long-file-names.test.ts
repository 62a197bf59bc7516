import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { jsonBody, makeToken } from '../support/api.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';

const token = makeToken();
const headers = { Prefer: 'respond-async' };
let api: DocumentApi;
beforeAll(async () => {
  api = await startDocumentApi();
});
afterAll(() => api.close());

const formOf = (field: string, ...filenames: string[]) => {
  const body = new FormData();
  for (const filename of filenames) body.append(field, new Blob(['Hay costs twelve a bale.']), filename);
  return body;
};
const send = (path: string, body: FormData, method = 'POST') =>
  api.request(path, { method, body, headers, token });

/** Characters of two UTF-16 units and four bytes count as one. */
const [longest, longer] = ['𝒳'.repeat(251), '𝒳'.repeat(252)].map((stem) => `${stem}.txt`) as [string, string];
const refusal = {
  loc: ['body', 'filename'],
  msg: 'ensure this value has at most 255 characters',
  type: 'value_error.any_str.max_length',
  ctx: { limit_value: 255 },
};

describe('a file name of more than 255 characters', () => {
  test('is refused in a form with the words of a text, and nothing of the file stays', async () => {
    const text = { content: 'Hay.', filename: longer };
    const asText = await api.request('/ingest/text', { ...jsonBody(text), token });
    expect([asText.status, asText.body]).toEqual([422, { detail: [refusal] }]);
    const asFile = await send('/ingest/file', formOf('file', longer));
    expect([asFile.status, asFile.body]).toEqual([422, { detail: [refusal] }]);
    expect(await api.storedFiles()).toEqual([]);
  });

  test('is refused for new content of a document, which keeps its own', async () => {
    const made = await send('/ingest/file', formOf('file', longest));
    const { external_id: id, filename } = made.body as { external_id: string; filename: string };
    expect([made.status, filename]).toEqual([202, longest]);
    const changed = await send(`/documents/${id}/content`, formOf('file', longer), 'PUT');
    expect([changed.status, changed.body]).toEqual([422, { detail: [refusal] }]);
    expect((await api.request(`/documents/${id}`, { token })).body).toMatchObject({ filename: longest });
  });

  test('is the error of its file alone in a form with many', async () => {
    const answer = await send('/ingest/files', formOf('files', 'a.txt', longer, longest));
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject([
      { status: 'queued' },
      { index: 1, error: refusal },
      { status: 'queued' },
    ]);
  });
});
