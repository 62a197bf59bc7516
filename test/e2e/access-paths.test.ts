import { describe, expect, test } from '@jest/globals';
import type { Shared } from '../../src/shared/access/sharing.js';
import { openAccessWorld, tryToChange, type Held, type Person } from '../support/access-world.js';
import type { Client, WireChunk, WireDocument } from '../support/client.js';
import { describeOnEachSharedIndex } from '../support/each-index.js';
import { streamQuery } from '../support/event-stream.js';

describeOnEachSharedIndex((service) => {
  const { client: user, caller } = service;

  interface Completion {
    readonly completion: string;
    readonly sources: readonly { document_id: string }[];
  }

  /** Every way to read a document, and whether it leads to it. @param shared which documents of others are looked for */
  async function waysTo(
    client: Client,
    { id, word }: Pick<Held, 'id' | 'word'>,
    shared: Shared = 'all',
  ): Promise<Record<string, boolean>> {
    const asked = { shared, k: 1000 };
    const chunks = await client.searchChunks(word, asked);
    const documents = await client.post<WireChunk[]>('/retrieve/docs', { query: word, ...asked });
    const query = await client.post<Completion>('/query', { query: `What of ${word}?`, ...asked });
    const streamed = await streamQuery(service.url, client, { query: `What of ${word}?`, ...asked });
    const list = await client.get<WireDocument[]>(`/documents?shared=${shared}`);
    const filter = `filters={"external_id":"${id}"}`;
    const selected = await client.get<WireDocument[]>(`/documents?${filter}&shared=${shared}&total=true`);
    const counted = selected.headers.get('quire-total');
    const cache = { name: 'peek', model: 'm', gguf_file: 'f', shared };
    const opens = async (path: string) => {
      const response = await fetch(service.url + path, { headers: { authorization: client.authorization } });
      return response.status === 200;
    };
    const page = await client.get<{ detail: string }>(`/documents/${id}/pages/1.png`);
    return {
      chunks: chunks.body.some(({ document_id: found }) => found === id),
      documents: documents.body.some(({ document_id: found }) => found === id),
      sources: query.body.sources.some(({ document_id: found }) => found === id),
      stream: streamed.text.includes(id),
      list: list.body.some(({ external_id: found }) => found === id),
      filtered: selected.body.length === 1,
      counted: counted === '1',
      record: await opens(`/documents/${id}`),
      status: await opens(`/documents/${id}/status`),
      texts: await opens(`/documents/${id}/chunks`),
      download: await opens(`/documents/${id}/download`),
      extraction: await opens(`/documents/${id}/extraction`),
      // It has none, which nobody else is told.
      page: page.body.detail === 'The document has no pages that can be shown',
      cacheOfListed: (await client.post('/cache/create', { ...cache, docs: [id] })).status === 200,
      cacheOfMatching:
        (await client.post('/cache/create', { ...cache, filters: { external_id: id } })).status === 200,
    };
  }

  const expected = ({ finds, reads }: { readonly finds: boolean; readonly reads: boolean }) => ({
    chunks: finds,
    documents: finds,
    sources: finds,
    stream: finds,
    list: finds,
    filtered: finds,
    counted: finds,
    record: reads,
    status: reads,
    texts: reads,
    download: reads,
    extraction: reads,
    page: reads,
    cacheOfListed: finds,
    cacheOfMatching: finds,
  });
  const all = (value: boolean) => expected({ finds: value, reads: value });

  describe('who may read a document', () => {
    test.each(['readers', 'writers', 'admins'])('finds it on every path while in its %s', async (list) => {
      const [owner, friend] = [user(`owner-of-${list}`), user(`friend-in-${list}`)];
      const word = `tourmaline${list}`;
      const text = `The ${word} lies in the drawer.`;
      const before = await friend.ingestText('The drawer of the friend is empty.');
      const { body: document } = await owner.ingestText(text);
      const id = document.external_id;
      expect(await waysTo(owner, { id, word })).toEqual(all(true));
      expect(await waysTo(friend, { id, word })).toEqual(all(false));
      expect(await waysTo(user(`operator-of-${list}`, ['admin']), { id, word })).toEqual(all(false));

      const own = [caller(`owner-of-${list}`)];
      const access = (more: readonly string[]) =>
        owner.patch(`/documents/${id}`, { access_control: { [list]: [...own, ...more] } });
      expect((await access([caller(`friend-in-${list}`)])).status).toBe(200);
      expect(await waysTo(friend, { id, word })).toEqual(all(true));
      expect(
        (await friend.post('/cache/create', { ...shared, docs: [id, before.body.external_id] })).status,
      ).toBe(200);
      expect(await said(friend, word)).toContain(word);

      expect((await access([])).status).toBe(200);
      expect(await said(friend, word)).not.toContain(`${word} lies`);
      expect(await waysTo(friend, { id, word })).toEqual(all(false));
      expect(await waysTo(owner, { id, word })).toEqual(all(true));
    });

    const shared = { name: 'shared', model: 'm', gguf_file: 'f' };
    const said = async (client: Client, word: string) =>
      (await client.post<Completion>('/cache/shared/query', { query: `Where is the ${word}?` })).body
        .completion;

    test('is decided anew by each change: no search that begins after its response goes by the one before', async () => {
      const [owner, friend] = [user('toggler'), user('toggled')];
      const { body: document } = await owner.ingestText('An opal in the cupboard.');
      const path = `/documents/${document.external_id}`;
      for (let round = 0; round < 12; round += 1) {
        const readers = round % 2 === 0 ? [caller('toggled')] : [];
        const { status } = await owner.patch(path, { access_control: { readers } });
        expect(status).toBe(200);
        const [chunks, documents] = await Promise.all([
          friend.searchChunks('opal'),
          friend.post<WireChunk[]>('/retrieve/docs', { query: 'opal' }),
        ]);
        expect([round, chunks.body.length, documents.body.length]).toEqual([
          round,
          readers.length,
          readers.length,
        ]);
      }
    });

    test('gets k results whenever there are as many, however many others fit better', async () => {
      const [owner, other] = [user('few'), user('many')];
      const texts = Array.from({ length: 30 }, (_, i) => `Sapphire sapphire sapphire ${String(i)}.`);
      await Promise.all(texts.map((text) => other.ingestText(text)));
      for (let n = 0; n < 3; n += 1)
        await owner.ingestText(`A note, ${String(n)}, with one sapphire among other words.`);
      expect((await owner.searchChunks('sapphire', { k: 3 })).body).toHaveLength(3);
      expect((await owner.searchChunks('sapphire', { k: 10 })).body).toHaveLength(3);
      expect((await other.searchChunks('sapphire', { k: 30 })).body).toHaveLength(30);
    });

    test('finds the text of before until a change is ready, never neither; and nothing once it is deleted', async () => {
      const [owner, friend] = [user('changer'), user('changed')];
      const access_control = { readers: [caller('changed')] };
      const { body: document } = await owner.ingestText('The garnet of round 0.', { access_control });
      const id = document.external_id;
      const contents = async () =>
        (await friend.searchChunks('garnet', { filters: { external_id: id } })).body.map(
          ({ content }) => content,
        );
      const found: string[][] = [];
      const replacing = { isOver: false };
      const wholeTexts = async () => {
        const asked = { query: 'garnet', filters: { external_id: id } };
        const { body } = await friend.post<{ content: { value: string } }[]>('/retrieve/docs', asked);
        return body.map(({ content }) => content.value);
      };
      const watchers = [contents, contents, wholeTexts, wholeTexts].map(async (watch) => {
        while (!replacing.isOver) found.push(await watch());
      });
      for (let round = 1; round <= 10; round += 1) {
        const content = `The garnet of round ${String(round)}.`;
        expect((await owner.put(`/documents/${id}/content`, { content })).status).toBe(200);
        expect(await contents()).toEqual([content]);
      }
      replacing.isOver = true;
      await Promise.all(watchers);
      expect(found.length).toBeGreaterThan(30);
      expect(found.filter(({ length }) => length !== 1)).toEqual([]);
      expect((await owner.delete(`/documents/${id}`)).status).toBe(200);
      expect(await contents()).toEqual([]);
      expect(await waysTo(owner, { id, word: 'garnet' })).toEqual(all(false));
    });
  });

  describe('whoever asks, by whatever path', () => {
    const ofCache = { name: 'kept', model: 'm', gguf_file: 'f', shared: 'all' };

    test.each([1, 2])('the lists decide, and what the caller wants to see: seed %i', async (seed) => {
      const world = await openAccessWorld(seed, (name) => ({ id: caller(name), client: user(name) }));
      const { people, documents, may, finds } = world;
      const cached = new Map<Person, readonly Held[]>();
      /** Signed addresses of files, which are for whoever asked for them. */
      const links: { readonly person: Person; readonly held: Held; readonly url: string }[] = [];
      const compare = async (person: Person, held: Held) => {
        const shared = world.anyShared();
        const [found, reads] = [finds(person, held, shared), may(person, 'read', held)];
        const [mayWrite, mayOpen] = [may(person, 'write', held), may(person, 'change access', held)];
        const asked = [seed, person.id, held.word, shared];
        expect([...asked, await waysTo(person.client, held, shared)]).toEqual([
          ...asked,
          expected({ finds: found, reads }),
        ]);
        const changes = { patched: mayWrite, cancelled: mayWrite, retried: mayWrite, opened: mayOpen };
        expect([...asked, await tryToChange(person, held, { mayWrite })]).toEqual([
          ...asked,
          { ...changes, replaced: false, removed: false },
        ]);
      };
      for (const person of people) {
        const usable = documents.filter((held) => finds(person, held, 'all'));
        cached.set(person, usable);
        const created = await person.client.post('/cache/create', {
          ...ofCache,
          docs: usable.map(({ id }) => id),
        });
        expect(created.status === 200).toBe(usable.length > 0);
        const { body } = await person.client.searchChunks('drawer', { k: 1000, shared: 'all' });
        for (const { document_id: id, download_url: url } of body) {
          const held = documents.find((each) => each.id === id);
          if (held && url !== null) links.push({ person, held, url });
        }
      }
      expect(links.length).toBeGreaterThan(0);
      await world.change(20);
      for (const person of people) for (const held of documents) await compare(person, held);
      for (const { person, held, url } of links) {
        const { status } = await fetch(url);
        const refusal = held.isThere ? 403 : 404;
        expect([person.id, held.word, status]).toEqual([
          person.id,
          held.word,
          may(person, 'read', held) ? 200 : refusal,
        ]);
      }
      for (const [person, members] of cached) {
        for (const held of members) {
          const query = { query: `Where is the ${held.word}?` };
          const { body } = await person.client.post<Partial<Completion>>('/cache/kept/query', query);
          const isSaid = body.completion?.includes(`${held.word} lies`) ?? false;
          expect([person.id, held.word, isSaid]).toEqual([person.id, held.word, finds(person, held, 'all')]);
        }
      }
    });
  });
});
