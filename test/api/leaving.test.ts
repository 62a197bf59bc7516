import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeToken } from '../support/api.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { createUser, documentOf, idsOf, type User } from '../support/document-client.js';
import { playRetag } from '../support/play-worker.js';

let api: DocumentApi;

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 0 });
});
afterAll(() => api.close());

const forbidden = [403, { detail: 'Insufficient permissions' }];
const leave = ({ send }: User, id: string) => send('POST', `/documents/${id}/leave`);
const accept = ({ send }: User, id: string) => send('POST', `/documents/${id}/accept`);
const share = ({ send }: User, id: string, lists: Record<string, readonly string[]>) =>
  send('PATCH', `/documents/${id}`, { access_control: lists });
const reads = async ({ get }: User, id: string) => (await get(`/documents/${id}`)).status === 200;

/** A document of Mallory's that names a victim. */
async function shared(name: string, lists: readonly string[] = ['readers']) {
  const [mallory, victim] = [createUser(api, `mallory-${name}`), createUser(api, `victim-${name}`)];
  const access_control = Object.fromEntries(lists.map((list) => [list, [victim.name]]));
  const id = await mallory.ingestCompleted(['spam'], { access_control });
  return { mallory, victim, id };
}

describe('who leaves a document', () => {
  test('finds and reads nothing of it from the response on, in whichever lists they were', async () => {
    for (const lists of [['readers'], ['writers'], ['admins'], ['readers', 'writers', 'admins']]) {
      const { mallory, victim, id } = await shared(lists.join('-'), lists);
      expect(idsOf(await victim.get('/documents'))).toEqual([id]);
      expect(await leave(victim, id)).toMatchObject({ status: 200, body: { success: true } });
      for (const path of ['', '/status', '/chunks', '/download']) {
        const answer = await victim.get(`/documents/${id}${path}`);
        expect([answer.status, answer.body]).toEqual(forbidden);
      }
      expect(idsOf(await victim.get('/documents'))).toEqual([]);
      const { access_control: left } = documentOf(await mallory.get(`/documents/${id}`));
      expect(Object.values(left).flat()).not.toContain(victim.name);
      // Leaving again changes nothing more.
      const { revision } = (await api.records.read(id)) ?? {};
      expect(await leave(victim, id)).toMatchObject({ status: 200, body: { success: true } });
      expect((await api.records.read(id))?.revision).toBe(revision);
    }
  });

  test('cannot be brought back by anybody else, and comes back to what the lists give by then', async () => {
    const { mallory, victim, id } = await shared('back');
    await leave(victim, id);
    const named = [mallory.name, victim.name];
    for (const list of ['readers', 'writers', 'admins']) {
      const answer = documentOf(await share(mallory, id, { [list]: named }));
      expect(answer.access_control).toMatchObject({ [list]: [mallory.name] });
      expect(await reads(victim, id)).toBe(false);
    }
    const merged = { access_control: { readers: [victim.name] } };
    const type = { 'Content-Type': 'application/merge-patch+json' };
    await mallory.send('PATCH', `/documents/${id}`, merged, type);
    expect(await reads(victim, id)).toBe(false);
    await mallory.send('PUT', `/documents/${id}/content`, { content: 'more spam' });
    expect(await reads(victim, id)).toBe(false);

    expect(await accept(victim, id)).toMatchObject({ status: 202, body: { success: true } });
    const { access_control: now } = documentOf(await victim.get(`/documents/${id}`));
    expect(now).toEqual({
      readers: [victim.name],
      writers: [mallory.name, victim.name],
      admins: [mallory.name, victim.name],
    });
    await playRetag(api, id);
    expect(await accept(victim, id)).toMatchObject({ status: 200, body: { success: true } });
    expect((await api.records.read(id))?.left).toEqual([]);
  });

  test('gets nothing back that was taken from them meanwhile, and can be named again once they have accepted', async () => {
    const { mallory, victim, id } = await shared('withdrawn');
    await leave(victim, id);
    await share(mallory, id, { readers: [mallory.name] });
    expect((await accept(victim, id)).status).toBe(202);
    expect(await reads(victim, id)).toBe(false);
    await share(mallory, id, { readers: [victim.name] });
    expect(await reads(victim, id)).toBe(true);
  });

  test('does not come back to a list that they left once any list is written without them', async () => {
    const { mallory, victim, id } = await shared('revoked', ['writers']);
    await leave(victim, id);
    await share(mallory, id, { readers: [mallory.name, 'somebody else'] });
    expect((await accept(victim, id)).status).toBe(202);
    expect(await reads(victim, id)).toBe(false);
  });

  test('is not the owner, nor the only admin, nor somebody whom no list names', async () => {
    const { mallory, victim, id } = await shared('who');
    const stranger = createUser(api, 'stranger');
    expect(await leave(mallory, id)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('owner') },
    });
    for (const ask of [leave, accept]) {
      const answer = await ask(stranger, id);
      expect([answer.status, answer.body]).toEqual(forbidden);
      for (const unknown of ['00000000-0000-4000-8000-000000000000', 'nothing'])
        expect((await ask(victim, unknown)).status).toBe(404);
    }
    await share(mallory, id, { admins: [victim.name], readers: [], writers: [] });
    expect(await leave(victim, id)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('only admin') },
    });
    expect((await victim.send('DELETE', `/documents/${id}`)).status).toBe(200);
  });

  test('cannot be made the only admin by others', async () => {
    const { mallory, victim, id } = await shared('last', ['admins']);
    await leave(victim, id);
    expect(await share(mallory, id, { admins: [victim.name] })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('have left') },
    });
    expect(documentOf(await mallory.get(`/documents/${id}`)).access_control.admins).toEqual([mallory.name]);
  });

  test('needs no more than the right to read', async () => {
    const { victim, id } = await shared('token');
    const reader = { ...victim, send: createReader(victim.name) };
    expect((await leave(reader, id)).status).toBe(200);
    expect((await accept(reader, id)).status).toBe(202);
  });
});

const createReader = (name: string) => {
  const token = makeToken({ entity_id: name, permissions: ['read'] });
  return (method: string, path: string) => api.request(path, { method, token });
};
