import { expect, test } from '@jest/globals';
import type { Client, WireChunk, WireDocument } from '../support/client.js';
import { describeOnEachSharedIndex } from '../support/each-index.js';

const QUERY = 'canary budget';
const RANKINGS = ['lexical', 'semantic', 'hybrid'];
/** A wait in which tags of chunks are rewritten. */
const PATIENT = { prefer: 'wait=60' };

interface Found {
  readonly document_id: string;
  readonly owner: string;
}
interface Sharing {
  readonly blocked_owners: readonly string[];
  readonly accepted_owners: readonly string[];
  readonly accepted_documents: readonly string[];
}

describeOnEachSharedIndex((service) => {
  const { client: user, caller } = service;

  const ingest = async (client: Client, more: Record<string, unknown> = {}): Promise<string> => {
    const answer = await client.ingestText('The canary sings about the budget.', more, PATIENT);
    expect(answer.status).toBe(200);
    return answer.body.external_id;
  };
  const share = (client: Client, readers: readonly string[], more: Record<string, unknown> = {}) =>
    ingest(client, { access_control: { readers: readers.map(caller) }, ...more });

  /** The documents that a caller finds, which must be the same in every way to find them. */
  async function seen(client: Client, more: Record<string, unknown> = {}): Promise<ReadonlySet<string>> {
    const idsOf = (found: readonly { readonly document_id: string }[]) =>
      new Set(found.map(({ document_id: id }) => id));
    const { filters = null, shared } = more;
    const asked = new URLSearchParams({
      total: 'true',
      filters: JSON.stringify(filters),
      ...(typeof shared === 'string' && { shared }),
    });
    const listing = await client.get<WireDocument[]>(`/documents?${asked.toString()}`);
    expect(listing.status).toBe(200);
    const listed = new Set(listing.body.map(({ external_id: id }) => id));
    expect(listing.headers.get('quire-total')).toBe(String(listed.size));
    for (const ranking of RANKINGS) {
      const search = { query: QUERY, k: 50, ranking, ...more };
      const chunks = await client.post<WireChunk[]>('/retrieve/chunks', search);
      const documents = await client.post<WireChunk[]>('/retrieve/docs', search);
      const answer = await client.post<{ sources: WireChunk[] }>('/query', { ...search, max_tokens: 50 });
      expect([chunks.status, documents.status, answer.status]).toEqual([200, 200, 200]);
      for (const found of [chunks.body, documents.body, answer.body.sources])
        expect([ranking, idsOf(found)]).toEqual([ranking, listed]);
    }
    return listed;
  }
  const set = (...ids: readonly string[]) => new Set(ids);

  test('hits, sources and documents say whose they are, and filters can ask for it, whatever metadata says', async () => {
    const [victim, mallory] = [user('told'), user('teller')];
    const own = await ingest(victim);
    const lie = { 'system_metadata.owner': caller('told'), owner: caller('told') };
    const spam = await share(mallory, ['told'], { metadata: lie });
    const owners = new Map([
      [own, caller('told')],
      [spam, caller('teller')],
    ]);
    const search = { query: QUERY, k: 50 };
    const { body: chunks } = await victim.post<Found[]>('/retrieve/chunks', search);
    const { body: documents } = await victim.post<Found[]>('/retrieve/docs', search);
    const { body: answer } = await victim.post<{ sources: Found[] }>('/query', search);
    for (const found of [chunks, documents, answer.sources])
      expect(new Map(found.map(({ document_id: id, owner }) => [id, owner]))).toEqual(owners);
    const { body: document } = await victim.get<{ system_metadata: { owner: string } }>(`/documents/${spam}`);
    expect(document.system_metadata.owner).toBe(caller('teller'));
    const by = (condition: unknown) => seen(victim, { filters: { 'system_metadata.owner': condition } });
    expect(await by(caller('told'))).toEqual(set(own));
    expect(await by({ $nin: [caller('teller')] })).toEqual(set(own));
    expect(await by({ $in: [caller('teller'), 'x'] })).toEqual(set(spam));
    expect(await by({ $exists: true })).toEqual(set(own, spam));
  });

  test('nothing of a blocked owner is found in any way, from the response on, until they are unblocked', async () => {
    const [victim, mallory, friend] = [user('blocker'), user('blocked'), user('unblocked')];
    const own = await ingest(victim);
    const spam = await share(mallory, ['blocker']);
    const kind = await share(friend, ['blocker']);
    expect(await seen(victim)).toEqual(set(own, spam, kind));
    const path = `/sharing/blocked/${encodeURIComponent(caller('blocked'))}`;
    const { status, body } = await victim.put<Sharing>(path, {});
    expect([status, body.blocked_owners]).toEqual([200, [caller('blocked')]]);
    expect(await seen(victim)).toEqual(set(own, kind));
    await share(mallory, ['blocker']);
    for (const shared of ['all', null]) expect(await seen(victim, { shared })).toEqual(set(own, kind));
    // A filter narrows this and never widens it.
    expect(await seen(victim, { filters: { 'system_metadata.owner': caller('blocked') } })).toEqual(set());
    // A caller who knows of a document can still look at it, for example to decide.
    expect((await victim.get(`/documents/${spam}`)).status).toBe(200);
    expect((await victim.delete<Sharing>(path)).body.blocked_owners).toEqual([]);
    expect((await seen(victim)).has(spam)).toBe(true);
  });

  test('with `accepted`, a document is found once it or its owner is accepted; with `own`, only one’s own', async () => {
    const [victim, mallory, friend] = [user('chooser'), user('asker'), user('trusted')];
    const own = await ingest(victim);
    const [spam, other] = [await share(mallory, ['chooser']), await share(mallory, ['chooser'])];
    const kind = await share(friend, ['chooser']);
    const accepted = () => seen(victim, { shared: 'accepted' });
    expect(await accepted()).toEqual(set(own));
    expect(await victim.post(`/documents/${other}/accept`)).toMatchObject({
      status: 200,
      body: { success: true },
    });
    expect(await accepted()).toEqual(set(own, other));
    const trusted = encodeURIComponent(caller('trusted'));
    await victim.put(`/sharing/accepted/${trusted}`, {});
    expect(await accepted()).toEqual(set(own, other, kind));
    expect(await seen(victim, { shared: 'own' })).toEqual(set(own));
    expect(await seen(victim)).toEqual(set(own, spam, other, kind));
    const { body } = await victim.get<Sharing>('/sharing');
    expect(body).toEqual({
      shared: 'all',
      blocked_owners: [],
      accepted_owners: [caller('trusted')],
      accepted_documents: [other],
    });
    // An owner is in one of the two lists, and a block holds for accepted documents, too.
    await victim.put(`/sharing/blocked/${trusted}`, {});
    await victim.put(`/sharing/blocked/${encodeURIComponent(caller('asker'))}`, {});
    expect(await accepted()).toEqual(set(own));
    await victim.put(`/sharing/accepted/${trusted}`, {});
    expect(await accepted()).toEqual(set(own, kind));
    for (const each of ['blocked', 'accepted'])
      expect((await victim.put(`/sharing/${each}/${encodeURIComponent(caller('chooser'))}`, {})).status).toBe(
        409,
      );
    expect((await victim.searchChunks(QUERY, { shared: 'some' })).status).toBe(422);
    expect((await victim.get('/documents?shared=some')).status).toBe(422);
  });

  test('who leaves a document finds nothing of it, whatever its owner does, until they accept it', async () => {
    const [victim, mallory] = [user('leaver'), user('stayer')];
    const own = await ingest(victim);
    const spam = await share(mallory, ['leaver']);
    expect((await victim.post(`/documents/${spam}/leave`)).status).toBe(200);
    expect(await seen(victim)).toEqual(set(own));
    const again = { access_control: { readers: [caller('leaver'), caller('stayer')] } };
    expect((await mallory.patch(`/documents/${spam}`, again)).status).toBe(200);
    expect(await seen(victim)).toEqual(set(own));
    expect((await mallory.post(`/documents/${spam}/leave`)).status).toBe(409);
    expect((await victim.post(`/documents/${spam}/accept`, {}, PATIENT)).status).toBe(200);
    expect(await seen(victim)).toEqual(set(own, spam));
    expect(await seen(victim, { shared: 'accepted' })).toEqual(set(own, spam));
  });

  test('a cache takes of others what it says, and answers from no owner who was blocked since', async () => {
    const [victim, mallory, friend] = [user('cacher'), user('poisoner'), user('helper')];
    const texts = { own: 'Own words: the vault is blue.', spam: 'Spam words: the vault is red.' };
    const named = { access_control: { readers: [caller('cacher')] } };
    await victim.ingestText(texts.own, {}, PATIENT);
    const spam = (await mallory.ingestText(texts.spam, named, PATIENT)).body.external_id;
    await friend.ingestText('Kind words: the vault is old.', named, PATIENT);
    const create = (name: string, more: Record<string, unknown>) =>
      victim.post<{ doc_count: number; shared: string }>(
        '/cache/create',
        { name, model: 'm', gguf_file: 'none', filters: {}, ...more },
        PATIENT,
      );
    const answerOf = async (name: string) =>
      (await victim.post<{ completion: string }>(`/cache/${name}/query`, { query: 'Which vault words?' }))
        .body.completion;
    expect((await create('everything', {})).body).toMatchObject({ doc_count: 3, shared: 'all' });
    expect((await create('mine', { shared: 'own' })).body).toMatchObject({ doc_count: 1, shared: 'own' });
    expect(await create('named', { shared: 'own', filters: null, docs: [spam] })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('does not take') },
    });
    expect(await answerOf('everything')).toContain('Spam words');
    expect(await answerOf('mine')).not.toContain('Spam words');
    await victim.put(`/sharing/accepted/${encodeURIComponent(caller('helper'))}`, {});
    expect((await create('chosen', { shared: 'accepted' })).body.doc_count).toBe(2);
    await victim.put(`/sharing/blocked/${encodeURIComponent(caller('poisoner'))}`, {});
    expect(await answerOf('everything')).not.toContain('Spam words');
    expect((await victim.post('/cache/mine/add_docs', { docs: [spam] })).status).toBe(409);
    await victim.delete(`/sharing/accepted/${encodeURIComponent(caller('helper'))}`);
    expect(await answerOf('chosen')).not.toContain('Kind words');
    expect(await answerOf('chosen')).toContain('Own words');
  });
});
