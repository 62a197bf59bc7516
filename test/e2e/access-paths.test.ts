import { describe, expect, test } from '@jest/globals';
import type { Client, WireChunk, WireDocument } from '../support/client.js';
import { describeOnEachSharedIndex } from '../support/each-index.js';
import { streamQuery } from '../support/event-stream.js';

describeOnEachSharedIndex((service) => {
  const { client: user, caller } = service;

  interface Completion {
    readonly completion: string;
    readonly sources: readonly { document_id: string }[];
  }

  /** Every way to read a document, and whether it leads to it. */
  async function waysTo(client: Client, id: string, word: string): Promise<Record<string, boolean>> {
    const chunks = await client.searchChunks(word, { k: 1000 });
    const documents = await client.post<WireChunk[]>('/retrieve/docs', { query: word, k: 1000 });
    const query = await client.post<Completion>('/query', { query: `What of ${word}?`, k: 1000 });
    const streamed = await streamQuery(service.url, client, { query: `What of ${word}?` });
    const list = await client.get<WireDocument[]>('/documents');
    const selected = await client.get<WireDocument[]>(`/documents?filters={"external_id":"${id}"}`);
    const cache = { name: 'peek', model: 'm', gguf_file: 'f' };
    const opens = async (path: string) => {
      const response = await fetch(service.url + path, { headers: { authorization: client.authorization } });
      return response.status === 200;
    };
    return {
      chunks: chunks.body.some(({ document_id: found }) => found === id),
      documents: documents.body.some(({ document_id: found }) => found === id),
      sources: query.body.sources.some(({ document_id: found }) => found === id),
      stream: streamed.text.includes(id),
      list: list.body.some(({ external_id: found }) => found === id),
      filtered: selected.body.length === 1,
      record: await opens(`/documents/${id}`),
      status: await opens(`/documents/${id}/status`),
      texts: await opens(`/documents/${id}/chunks`),
      download: await opens(`/documents/${id}/download`),
      cacheOfListed: (await client.post('/cache/create', { ...cache, docs: [id] })).status === 200,
      cacheOfMatching:
        (await client.post('/cache/create', { ...cache, filters: { external_id: id } })).status === 200,
    };
  }

  const all = (value: boolean) => ({
    chunks: value,
    documents: value,
    sources: value,
    stream: value,
    list: value,
    filtered: value,
    record: value,
    status: value,
    texts: value,
    download: value,
    cacheOfListed: value,
    cacheOfMatching: value,
  });

  describe('who may read a document', () => {
    test.each(['readers', 'writers', 'admins'])('finds it on every path while in its %s', async (list) => {
      const [owner, friend] = [user(`owner-of-${list}`), user(`friend-in-${list}`)];
      const word = `tourmaline${list}`;
      const text = `The ${word} lies in the drawer.`;
      const before = await friend.ingestText('The drawer of the friend is empty.');
      const { body: document } = await owner.ingestText(text);
      const id = document.external_id;
      expect(await waysTo(owner, id, word)).toEqual(all(true));
      expect(await waysTo(friend, id, word)).toEqual(all(false));
      expect(await waysTo(user(`operator-of-${list}`, ['admin']), id, word)).toEqual(all(false));

      const own = [caller(`owner-of-${list}`)];
      const access = (more: readonly string[]) =>
        owner.patch(`/documents/${id}`, { access_control: { [list]: [...own, ...more] } });
      expect((await access([caller(`friend-in-${list}`)])).status).toBe(200);
      expect(await waysTo(friend, id, word)).toEqual(all(true));
      expect(
        (await friend.post('/cache/create', { ...shared, docs: [id, before.body.external_id] })).status,
      ).toBe(200);
      expect(await said(friend, word)).toContain(word);

      expect((await access([])).status).toBe(200);
      expect(await said(friend, word)).not.toContain(`${word} lies`);
      expect(await waysTo(friend, id, word)).toEqual(all(false));
      expect(await waysTo(owner, id, word)).toEqual(all(true));
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
      expect(await waysTo(owner, id, 'garnet')).toEqual(all(false));
    });
  });
});
