import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { documentView } from '../../src/api/routes/document-view.js';
import { cancel, patch, remove } from '../../src/shared/documents/transitions.js';
import { keys } from '../../src/shared/redis/keys.js';
import { makeToken, type ApiAnswer } from '../support/api.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { newKey } from '../support/keyed-requests.js';
import { playFailure, playIngest } from '../support/play-worker.js';
import { waitsForKnown } from '../support/waits-for-known.js';

let api: DocumentApi;

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 3 });
});
afterAll(async () => {
  await api.close();
});

interface Asked {
  readonly as: string;
  readonly onDuplicate?: string | undefined;
  readonly prefer?: string;
  readonly key?: string;
}

const headersOf = ({ prefer = 'wait=0', key }: Asked) => ({
  Prefer: prefer,
  ...(key !== undefined && { 'Idempotency-Key': key }),
});

function postText(content: string, asked: Asked): Promise<ApiAnswer> {
  const { as, onDuplicate } = asked;
  return api.request('/ingest/text', {
    method: 'POST',
    body: JSON.stringify({ content, ...(onDuplicate !== undefined && { on_duplicate: onDuplicate }) }),
    headers: { 'Content-Type': 'application/json', ...headersOf(asked) },
    token: makeToken({ entity_id: as }),
  });
}

function postFile(bytes: string, asked: Asked): Promise<ApiAnswer> {
  const { as, onDuplicate } = asked;
  const form = new FormData();
  form.append('file', new Blob([bytes], { type: 'text/plain' }), 'a.txt');
  if (onDuplicate !== undefined) form.append('on_duplicate', onDuplicate);
  const token = makeToken({ entity_id: as });
  return api.request('/ingest/file', { method: 'POST', body: form, headers: headersOf(asked), token });
}

const idOf = (answer: ApiAnswer) => documentView.parse(answer.body).external_id;
const finish = (answer: ApiAnswer) => playIngest(api, idOf(answer), ['a text']);
const countOf = (owner: string) => api.redis.zCard(keys.contentHashes(owner));

describe.each([
  ['text', postText],
  ['file', postFile],
] as const)('a %s that is there already', (kind, post) => {
  test('makes a new document by default', async () => {
    const as = `${kind}-new`;
    const first = await post('same', { as });
    await finish(first);
    for (const onDuplicate of [undefined, 'new'])
      expect(idOf(await post('same', { as, onDuplicate }))).not.toBe(idOf(first));
    expect(await countOf(as)).toBe(3);
  });

  test('is answered with the document with `return`, and nothing is created', async () => {
    const as = `${kind}-return`;
    const first = await post('same', { as });
    await finish(first);
    const files = (await api.storedFiles()).length;
    const again = await post('same', { as, onDuplicate: 'return' });
    expect(again.status).toBe(200);
    expect(idOf(again)).toBe(idOf(first));
    expect(await countOf(as)).toBe(1);
    expect((await api.storedFiles()).length).toBe(files);
    expect(idOf(await post('other', { as, onDuplicate: 'return' }))).not.toBe(idOf(first));
  });

  test('is refused with `reject`, which names the document', async () => {
    const as = `${kind}-reject`;
    const first = await post('same', { as, onDuplicate: 'reject' });
    expect(first.status).toBe(202);
    const files = (await api.storedFiles()).length;
    const again = await post('same', { as, onDuplicate: 'reject' });
    expect(again.status).toBe(409);
    expect(again.body).toEqual({ detail: expect.stringContaining(idOf(first)) });
    expect(again.headers.get('location')).toBe(`/documents/${idOf(first)}`);
    expect((await api.storedFiles()).length).toBe(files);
  });

  test('one that is still being ingested is returned, with 202', async () => {
    const as = `${kind}-running`;
    const first = await post('same', { as });
    const again = await post('same', { as, onDuplicate: 'return' });
    expect(again.status).toBe(202);
    expect(again.headers.get('location')).toBe(`/documents/${idOf(first)}/status`);
    expect(idOf(again)).toBe(idOf(first));
  });

  test('one that is deleted while it is waited for is no answer, and can be sent again', async () => {
    const as = `${kind}-deleted`;
    const first = await post('same', { as });
    const asked = { as, onDuplicate: 'return', key: newKey() };
    const send = () => post('same', { ...asked, prefer: 'wait=60' });
    const { answering } = await waitsForKnown(api.redis, send);
    await api.records.update(idOf(first), remove);
    const answer = await answering;
    expect(answer.status).toBe(409);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.body).toEqual({ detail: expect.stringContaining('deleted') });
    const again = await post('same', asked);
    expect(again.status).toBe(202);
    expect(idOf(again)).not.toBe(idOf(first));
    expect(await countOf(as)).toBe(1);
  });

  test('twenty at once end in one document', async () => {
    const as = `${kind}-race`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post('same', { as, onDuplicate: 'return' })),
    );
    expect(new Set(answers.map(idOf)).size).toBe(1);
    expect(await countOf(as)).toBe(1);
  });

  test('422 for an unknown value', async () => {
    const answer = await post('same', { as: 'unknown', onDuplicate: 'ignore' });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      detail: [{ loc: ['body', 'on_duplicate'], type: 'type_error.enum' }],
    });
  });
});

describe('what counts as the same', () => {
  const returned = async (as: string, content = 'same') =>
    idOf(await postText(content, { as, onDuplicate: 'return' }));

  test('not a document that failed, was cancelled or deleted', async () => {
    const failed = await postText('same', { as: 'ended' });
    await playFailure(api, idOf(failed), 'timeout');
    const cancelled = await postText('same', { as: 'ended', onDuplicate: 'return' });
    expect(idOf(cancelled)).not.toBe(idOf(failed));
    await api.records.update(idOf(cancelled), cancel);
    const deleted = await postText('same', { as: 'ended', onDuplicate: 'return' });
    expect(idOf(deleted)).not.toBe(idOf(cancelled));
    await finish(deleted);
    await api.records.update(idOf(deleted), remove);
    expect(await returned('ended')).not.toBe(idOf(deleted));
    expect(await countOf('ended')).toBe(1);
  });

  test('a failed document counts again when it is retried', async () => {
    const failed = await postText('same', { as: 'retrier' });
    await playFailure(api, idOf(failed), 'timeout');
    expect(await countOf('retrier')).toBe(0);
    const token = makeToken({ entity_id: 'retrier' });
    const path = `/documents/${idOf(failed)}/retry`;
    await api.request(path, { method: 'POST', headers: { Prefer: 'wait=0' }, token });
    expect(await returned('retrier')).toBe(idOf(failed));
  });

  test('the newest content, and no longer the one before', async () => {
    const document = await postText('old', { as: 'updater' });
    await finish(document);
    const put = await api.request(`/documents/${idOf(document)}/content`, {
      method: 'PUT',
      body: JSON.stringify({ content: 'new' }),
      headers: { 'Content-Type': 'application/json', Prefer: 'wait=0' },
      token: makeToken({ entity_id: 'updater' }),
    });
    expect(put.status).toBe(202);
    expect(await returned('updater', 'new')).toBe(idOf(document));
    expect(await returned('updater', 'old')).not.toBe(idOf(document));
  });

  test('only documents that the caller owns and may still read', async () => {
    const token = makeToken({ entity_id: 'owner' });
    const shared = await api.request('/ingest/text', {
      method: 'POST',
      body: JSON.stringify({ content: 'shared', access_control: { admins: ['friend'] } }),
      headers: { 'Content-Type': 'application/json', Prefer: 'wait=0' },
      token,
    });
    expect(await returned('friend', 'shared')).not.toBe(idOf(shared));
    expect(await returned('owner', 'shared')).toBe(idOf(shared));
    await api.records.update(idOf(shared), (record) =>
      patch(record, { readers: ['friend'], writers: ['friend'], admins: ['friend'] }),
    );
    expect(await returned('owner', 'shared')).not.toBe(idOf(shared));
  });

  test('an entry whose document is gone is no duplicate, and is taken away', async () => {
    const document = await postText('lost', { as: 'loser' });
    await api.redis.del(keys.document(idOf(document)));
    expect(await returned('loser', 'lost')).not.toBe(idOf(document));
    expect(await countOf('loser')).toBe(1);
  });

  test('a returned document leaves no usage record of its own', async () => {
    const as = 'counted';
    await finish(await postText('same', { as }));
    const events = await api.redis.lLen(keys.usagePending(as));
    await postText('same', { as, onDuplicate: 'return' });
    await postText('same', { as, onDuplicate: 'reject' });
    expect(await api.redis.lLen(keys.usagePending(as))).toBe(events);
  });
});
