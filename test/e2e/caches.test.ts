import { describe, expect, test } from '@jest/globals';
import {
  cacheCompletion,
  cacheOperations,
  createCache,
  ingestText,
  someModel,
  type CacheAnswer,
  type CacheConfiguration,
} from '../support/cache-client.js';
import { streamQuery } from '../support/event-stream.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';
import { until } from '../support/until.js';

const service = useService({ env: EVERYDAY });

const user = service.client;

interface UsageRecord {
  readonly operation_type: string;
  readonly status: string;
  readonly tokens_used: number;
  readonly metadata: Record<string, unknown>;
}

describe('a named cache', () => {
  test('is made, shown, asked, extended and deleted, and each operation is counted once', async () => {
    const ann = user('ann');
    const first = await ingestText(ann, 'The harbour has seven cranes.', { metadata: { topic: 'harbour' } });
    const other = await ingestText(ann, 'The lighthouse keeper is called Olga.', {
      metadata: { topic: 'light' },
    });

    const created = await createCache(ann, 'port', { filters: { topic: 'harbour' } });
    const configuration = {
      name: 'port',
      ...someModel,
      filters: { topic: 'harbour' },
      shared: 'all',
      doc_count: 1,
      engine: 'prompt',
      state_bytes: 0,
      token_count: expect.any(Number),
      status: 'ready',
    };
    expect(created.status).toBe(200);
    expect(created.body).toEqual({ ...configuration, success: true });
    expect(created.body.token_count).toBeGreaterThan(0);
    expect((await ann.get('/cache/port')).body).toEqual({ ...configuration, exists: true });
    expect((await ann.get('/caches')).body).toEqual([configuration]);

    const answer = await ann.post<CacheAnswer>('/cache/port/query', { query: 'How many cranes are there?' });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      completion: expect.stringContaining('seven cranes'),
      tokens_used: answer.body.usage.total_tokens,
      finish_reason: 'stop',
      usage: {
        completion_tokens: expect.any(Number),
        prompt_tokens: expect.any(Number),
        total_tokens: answer.body.usage.completion_tokens + answer.body.usage.prompt_tokens,
      },
      tokens_reused: expect.any(Number),
      sources: [
        {
          document_id: first,
          owner: service.caller('ann'),
          chunk_number: 0,
          score: 1,
          location: { lines: { first: 1, last: 1 } },
          section: [],
          filename: null,
          title: null,
          text: 'The harbour has seven cranes.',
          quotes: [{ text: 'The harbour has seven cranes.', start: 0, end: 29, line: 1 }],
          url: `${service.url}/view/${first}?chunk=0&quote=0-29`,
          page_url: null,
        },
      ],
      unsupported: [],
    });

    await ingestText(ann, 'The harbour master is called Ibrahim.', { metadata: { topic: 'harbour' } });
    expect(await cacheCompletion(ann, 'port', 'Who is the harbour master?')).not.toContain('Ibrahim');
    expect(await ann.post('/cache/port/update')).toMatchObject({ status: 200, body: { success: true } });
    expect(await cacheCompletion(ann, 'port', 'Who is the harbour master?')).toContain('Ibrahim');

    expect(await cacheCompletion(ann, 'port', 'Who is the lighthouse keeper?')).not.toContain('Olga');
    const added = await ann.post('/cache/port/add_docs', { docs: [other, first] });
    expect(added).toMatchObject({ status: 200, body: { success: true, status: 'ready' } });
    expect(await cacheCompletion(ann, 'port', 'Who is the lighthouse keeper?')).toContain('Olga');
    expect((await ann.get('/cache/port')).body).toMatchObject({ doc_count: 3 });

    expect(await ann.delete('/cache/port')).toMatchObject({ status: 200, body: { success: true } });
    expect((await ann.get('/cache/port')).body).toEqual({ exists: false });
    expect((await ann.get('/caches')).body).toEqual([]);
    expect((await ann.get(`/documents/${first}`)).status).toBe(200);

    const { body: stats } = await ann.get('/usage/stats');
    expect(stats).toEqual({
      ingest_text: 3,
      create_cache: 1,
      update_cache: 1,
      add_docs_to_cache: 1,
      query_cache: 5,
    });
    const { body: records } = await ann.get<UsageRecord[]>('/usage/recent?operation_type=query_cache');
    expect(records.at(-1)).toMatchObject({
      tokens_used: answer.body.tokens_used,
      status: 'success',
      metadata: { query: 'How many cranes are there?', cache: 'port' },
    });
    const { body: builds } = await ann.get<UsageRecord[]>('/usage/recent?operation_type=create_cache');
    expect(builds).toMatchObject([{ status: 'success', metadata: { cache: 'port' } }]);
  });

  test('names the chunks that an answer quotes, streamed too, and none that were closed to its owner', async () => {
    const [sue, tim] = [user('sue'), user('tim')];
    const readers = { access_control: { readers: [service.caller('tim')] } };
    const shared = await ingestText(sue, 'The weir holds forty eels.', readers);
    const own = await ingestText(tim, 'The mill grinds barley.');
    expect((await createCache(tim, 'river', { docs: [own, shared] })).status).toBe(200);
    const asked = { query: 'How many eels does the weir hold?' };
    const whole = (await tim.post<Record<string, unknown>>('/cache/river/query', asked)).body;
    const quote = { text: 'The weir holds forty eels.' };
    const source = { document_id: shared, owner: service.caller('sue'), quotes: [quote] };
    expect(whole).toMatchObject({ sources: [source], unsupported: [] });
    const { events } = await streamQuery(service.url, tim, asked, '/cache/river/query');
    const { sources, unsupported } = whole;
    expect(events.at(-1)?.data).toMatchObject({ type: 'end', sources, unsupported });
    await sue.patch(`/documents/${shared}`, { access_control: { readers: [] } });
    const { body: after } = await tim.post('/cache/river/query', asked);
    expect(JSON.stringify(after)).not.toContain(shared);
    expect(JSON.stringify(after)).not.toContain('eels.');
  });

  test('that is extended by several at once gets the documents of all of them', async () => {
    const client = user('parallel');
    const ids: string[] = [];
    for (const word of ['anchor', 'buoy', 'capstan', 'davit']) {
      ids.push(await ingestText(client, `The list has a line for the ${word}.`));
    }
    expect((await createCache(client, 'list', { docs: ids.slice(0, 1) })).status).toBe(200);
    const replies = await Promise.all(
      ids.map((id) => client.post<{ success: boolean }>('/cache/list/add_docs', { docs: [id] })),
    );
    for (const { status, body } of replies)
      expect([status === 200 || status === 202, body.success]).toEqual([true, true]);
    await until(async () => (await client.get<CacheConfiguration>('/cache/list')).body.status === 'ready');
    expect((await client.get('/cache/list')).body).toMatchObject({ doc_count: 4 });
    const answer = await cacheCompletion(client, 'list', 'What has the list a line for?');
    for (const word of ['anchor', 'buoy', 'capstan', 'davit']) expect(answer).toContain(word);
    // Each counts once, whether its own build was the one that ended or was overtaken.
    const { body: records } = await client.get<unknown[]>('/usage/recent?operation_type=add_docs_to_cache');
    expect(records).toHaveLength(ids.length);
  });

  test('belongs to its creator: names are per owner', async () => {
    const [bea, carl] = [user('bea'), user('carl')];
    await ingestText(bea, 'Bea grows nine lemon trees.');
    await ingestText(carl, 'Carl grows two lemon trees.');
    expect((await createCache(bea, 'garden', { filters: {} })).status).toBe(200);
    expect((await carl.get('/cache/garden')).body).toEqual({ exists: false });
    expect((await carl.get('/caches')).body).toEqual([]);
    expect((await createCache(carl, 'garden', { filters: {} })).status).toBe(200);
    expect(await cacheCompletion(bea, 'garden', 'How many lemon trees?')).toContain('nine');
    expect(await cacheCompletion(carl, 'garden', 'How many lemon trees?')).toContain('two');
    expect((await carl.delete('/cache/garden')).status).toBe(200);
    expect(await cacheCompletion(bea, 'garden', 'How many lemon trees?')).toContain('nine');
  });

  test('that is unknown is 404 for update, add_docs, query and delete', async () => {
    const client = user('asker');
    const detail = "Cache 'nothing' not found";
    for (const reply of [
      await client.post('/cache/nothing/update'),
      await client.post('/cache/nothing/add_docs', { docs: [] }),
      await client.post('/cache/nothing/query', { query: 'Anything?' }),
      await client.delete('/cache/nothing'),
    ]) {
      expect(reply).toMatchObject({ status: 404, body: { detail } });
    }
    expect(await client.get('/cache/nothing')).toMatchObject({ status: 200, body: { exists: false } });
    const strange = encodeURIComponent('no cache/has "such" a name');
    expect((await client.get(`/cache/${strange}`)).body).toEqual({ exists: false });
    expect((await client.post(`/cache/${strange}/query`, { query: 'Anything?' })).status).toBe(404);
    expect(await cacheOperations(client)).toEqual([]);
  });

  test('has a name of letters, digits, dots, underscores and hyphens', async () => {
    const client = user('namer');
    await ingestText(client, 'A name is a name.');
    for (const name of ['a', '0.x_Y-z', 'n'.repeat(128)]) {
      expect((await createCache(client, name, { filters: {} })).status).toBe(200);
    }
    for (const name of ['', '.a', '-a', '_a', 'a b', 'a/b', 'ä', 'a\n', 'n'.repeat(129)]) {
      const reply = await createCache(client, name, { filters: {} });
      expect([name, reply.status, reply.body.detail]).toEqual([
        name,
        422,
        [expect.objectContaining({ loc: ['body', 'name'] })],
      ]);
    }
  });

  test('needs the right permissions', async () => {
    await ingestText(user('limited'), 'Reading is not writing.');
    expect((await createCache(user('limited'), 'mine', { filters: {} })).status).toBe(200);
    const reader = user('limited', ['read']);
    for (const { status } of [
      await createCache(reader, 'mine', { filters: {} }),
      await reader.post('/cache/mine/update'),
      await reader.post('/cache/mine/add_docs', { docs: [] }),
      await reader.delete('/cache/mine'),
    ]) {
      expect(status).toBe(403);
    }
    expect((await reader.get('/cache/mine')).body).toMatchObject({ exists: true });
    expect(await cacheCompletion(reader, 'mine', 'What is not writing?')).toContain('Reading');
  });
});

describe('the text of a document', () => {
  test('that was deleted, changed or closed to the owner is never answered from again', async () => {
    const [client, author] = [user('keeper'), user('keeper-author')];
    const deleted = await ingestText(client, 'The first code word is amaranth.');
    const changed = await ingestText(client, 'The second code word is bergamot.');
    const access_control = { readers: [service.caller('keeper')] };
    const closed = await ingestText(author, 'The third code word is chicory.', { access_control });
    expect(await createCache(client, 'words', { filters: {} })).toMatchObject({
      status: 200,
      body: { doc_count: 3 },
    });
    const said = () => cacheCompletion(client, 'words', 'Which are the first, second and third code word?');
    for (const word of ['amaranth', 'bergamot', 'chicory']) expect(await said()).toContain(word);

    expect((await client.delete(`/documents/${deleted}`)).status).toBe(200);
    expect(await said()).not.toContain('amaranth');
    const replaced = await client.put(`/documents/${changed}/content`, {
      content: 'The second code word is dill.',
    });
    expect(replaced.status).toBe(200);
    expect(await said()).not.toContain('bergamot');
    const revoked = await author.patch(`/documents/${closed}`, { access_control: { readers: [] } });
    expect(revoked.status).toBe(200);
    expect(await said()).not.toContain('chicory');

    expect((await client.post('/cache/words/update')).status).toBe(200);
    const answer = await said();
    expect(answer).toContain('dill');
    for (const word of ['amaranth', 'bergamot', 'chicory']) expect(answer).not.toContain(word);
    expect((await client.get('/cache/words')).body).toMatchObject({ doc_count: 1 });

    const again = await client.put(`/documents/${changed}/content`, {
      content: 'The second code word is endive.',
    });
    expect(again.status).toBe(200);
    expect((await client.post('/cache/words/add_docs', { docs: [changed] })).status).toBe(200);
    expect(await said()).toContain('endive');
  });
});
