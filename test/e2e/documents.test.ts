import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { documentView } from '../../src/api/routes/document-view.js';
import { jsonBody } from '../support/api.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: EVERYDAY });
/** Dev mode knows a caller without a token, who is the same in all files: no other one that shares this service is him. */

const send = async (method: string, path: string, body?: unknown) => {
  const init =
    body instanceof FormData ? { method, body } : body === undefined ? { method } : jsonBody(body, method);
  const response = await fetch(`${service.url}${path}`, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
};
type Answer = Awaited<ReturnType<typeof send>>;
const documentOf = ({ text }: Answer) => documentView.parse(JSON.parse(text));
const searched = async (query: string, filters: unknown = null) => {
  const { text } = await send('POST', '/retrieve/chunks', { query, filters });
  return z.array(z.object({ document_id: z.string(), content: z.string() })).parse(JSON.parse(text));
};

test('a document lives: ingested, searched, changed, replaced, deleted', async () => {
  const ingested = await send('POST', '/ingest/text', {
    content: 'The quick brown fox jumps over the lazy dog.',
    metadata: { kind: 'fable' },
  });
  expect(ingested.status).toBe(200);
  const id = documentOf(ingested).external_id;
  expect(documentOf(ingested)).toMatchObject({
    chunk_ids: [`${id}-0`],
    system_metadata: { status: 'completed' },
  });
  expect(await searched('fox', { kind: 'fable' })).toMatchObject([{ document_id: id }]);

  const patched = await send('PATCH', `/documents/${id}`, { metadata: { kind: 'proverb' } });
  expect(patched.status).toBe(200);
  expect(await searched('fox', { kind: 'proverb' })).toMatchObject([{ document_id: id }]);
  expect(await searched('fox', { kind: 'fable' })).toEqual([]);

  const replaced = await send('PUT', `/documents/${id}/content`, { content: 'A heron stands in the river.' });
  expect(replaced.status).toBe(200);
  expect(documentOf(replaced).system_metadata).toMatchObject({ version: 2, published_version: 2 });
  expect(await searched('heron')).toMatchObject([
    { document_id: id, content: 'A heron stands in the river.' },
  ]);
  expect(await searched('fox')).not.toMatchObject([{ content: expect.stringContaining('fox') }]);

  expect((await send('DELETE', `/documents/${id}`)).status).toBe(200);
  expect(await searched('heron')).toEqual([]);
});

test('a file that yields no text is 400 while it is waited for; its retry is no error', async () => {
  const form = new FormData();
  form.append('file', new Blob(['   \n ']), 'blank.txt');
  const refused = await send('POST', '/ingest/file', form);
  expect(refused.status).toBe(400);
  const location = refused.headers.get('location') ?? '';
  const failed = documentOf(await send('GET', location));
  expect(failed.system_metadata).toMatchObject({ status: 'failed', error: { code: 'empty_document' } });
  const retried = await send('POST', `${location}/retry`);
  expect([retried.status, documentOf(retried).system_metadata.status]).toEqual([200, 'failed']);
  expect((await send('DELETE', location)).status).toBe(200);
});
