import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openDataSet } from '../../src/shared/data-set/data-set.js';
import { readOwned, readOwnedTotals } from '../../src/shared/documents/counts.js';
import { createRecords } from '../../src/shared/documents/records.js';
import { patch } from '../../src/shared/documents/transitions.js';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import type { Client, WireChunk, WireDocument } from '../support/client.js';
import { makeContent, makeDocument } from '../support/documents.js';
import { describeOnEachSharedIndex } from '../support/each-index.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { runQuire, startQuire } from '../support/run-quire.js';
import { until } from '../support/until.js';

const giving = (from: string, to: string) => ['documents', 'give', '--from', from, '--to', to];

async function connect(url: string): Promise<Redis> {
  const redis = createRedis(url, { failFast: true, onError: () => undefined });
  await redis.connect();
  return redis;
}

type Owning = WireDocument & {
  readonly system_metadata: { readonly owner: string };
  readonly access_control: Readonly<Record<'readers' | 'writers' | 'admins', readonly string[]>>;
};

const listOf = async (client: Client) => (await client.get<Owning[]>('/documents')).body;

describeOnEachSharedIndex((service) => {
  const SHARED = 'The heron of the archive stands in the reeds.';
  const OWN = 'The kingfisher of the archive dives into the pond.';
  const chunksOf = async (owner: string) =>
    Number((await redis.hGet(keys.statistics(service.caller(owner)), 'chunks')) ?? 0);
  let redis: Redis;
  beforeAll(async () => {
    redis = await connect(service.redis.url);
  });
  afterAll(() => {
    redis.destroy();
  });

  test('given documents belong to another user with all that follows, and to nobody twice', async () => {
    const [from, to] = [service.caller('dev'), service.caller('alice')];
    const [dev, alice, bob] = ['dev', 'alice', 'bob'].map((name) => service.client(name));
    if (!dev || !alice || !bob) throw new Error('there are three');
    const shared = await dev.ingestText(SHARED, { access_control: { readers: [service.caller('bob')] } });
    const own = await dev.ingestText(OWN);
    const ids = [shared, own].map(({ body }) => body.external_id).sort();
    await alice.ingestText('The owl of alice sleeps.');
    const open = { access_control: { readers: [service.caller('bob')] } };
    const { body: collection } = await dev.post<{ id: string }>('/collections', { name: 'birds', ...open });
    expect((await dev.post(`/collections/${collection.id}/documents`, { add: ids })).status).toBe(200);
    const cache = { name: 'birds', model: 'm', gguf_file: 'f', docs: ids };
    expect(await dev.post('/cache/create', cache)).toMatchObject({ status: 200 });
    await until(async () => (await chunksOf('dev')) === 2 && (await chunksOf('alice')) === 1);

    const give = () => runQuire(giving(from, to), { REDIS_URL: service.redis.url });
    const told = `2 documents of ${from} now belong to ${to}.\n1 collection of ${from} now belongs to ${to}.\n`;
    expect(await give()).toEqual({ code: 0, stdout: told, stderr: '' });

    // The record is changed at once, its chunks soon.
    const given = (await listOf(alice)).filter(({ external_id: id }) => ids.includes(id));
    expect(given.map(({ external_id: id }) => id).sort()).toEqual(ids);
    for (const { system_metadata: system, access_control: access } of given) {
      expect({ owner: system.owner, ...access }).toMatchObject({ owner: to, writers: [to], admins: [to] });
      expect(access.readers).toContain(to);
    }
    expect(await listOf(dev)).toEqual([]);
    expect((await dev.get(`/collections/${collection.id}`)).status).toBe(404);
    expect((await dev.get('/collections')).body).toEqual([]);
    expect((await alice.get(`/collections/${collection.id}`)).body).toMatchObject({
      owner: to,
      access_control: { readers: [to, service.caller('bob')], writers: [to], admins: [to] },
    });
    const members = await alice.get<Owning[]>(`/documents?collection=${collection.id}`);
    expect(members.body.map(({ external_id: id }) => id).sort()).toEqual(ids);
    for (const id of ids) expect((await dev.get(`/documents/${id}`)).status).toBe(403);
    expect((await dev.searchChunks('heron kingfisher archive')).body).toEqual([]);
    expect((await listOf(bob)).map((each) => each.system_metadata.owner)).toEqual([to]);
    const owned = await Promise.all([from, to].map((id) => readOwned(redis, id)));
    expect(owned).toMatchObject([
      { documents: 0, bytes: 0, chunks: 0 },
      { documents: 3, chunks: 3 },
    ]);
    await until(async () => (await chunksOf('dev')) === 0 && (await chunksOf('alice')) === 3);
    await until(async () => {
      const { body } = await alice.searchChunks('heron kingfisher archive', {
        filters: { 'system_metadata.owner': to },
      });
      return body.filter(({ document_id: id }: WireChunk) => ids.includes(id)).length === 2;
    });
    const answer = await dev.post<{ completion: string }>('/cache/birds/query', { query: 'heron?' });
    expect(JSON.stringify(answer.body)).not.toMatch(/reeds|pond/);

    // The same content is found again where its owner is.
    const again = { on_duplicate: 'return' };
    expect((await alice.ingestText(OWN, again)).body.external_id).toBe(own.body.external_id);
    expect((await dev.ingestText(OWN, again)).body.external_id).not.toBe(own.body.external_id);
    expect((await alice.patch(`/documents/${own.body.external_id}`, { metadata: { a: 1 } })).status).toBe(
      200,
    );

    // Usage stays with who has caused it.
    expect((await dev.get('/usage/stats')).body).toMatchObject({ ingest_text: 3 });
    expect(await give()).toMatchObject({ code: 0, stdout: `1 document of ${from} now belongs to ${to}.\n` });
    expect(await give()).toEqual({ code: 0, stdout: `${from} has no documents to give.\n`, stderr: '' });
  });
});

describe('npx quire documents give', () => {
  let server: TestRedis;
  let redis: Redis;
  beforeAll(async () => {
    server = await startTestRedis();
    redis = await connect(server.url);
    await openDataSet(redis, { model: 'm', vectorType: 'float32' });
  });
  afterAll(async () => {
    redis.destroy();
    await server.stop();
  });

  const completed = (ownerId: string, i: number, sizeBytes = 10) =>
    makeDocument({
      ownerId,
      status: 'completed',
      operation: null,
      pending: null,
      published: makeContent({ sizeBytes, sha256: `sha-${ownerId}-${String(i)}`, chunkCount: 2 }),
    });
  const env = (more: Record<string, string> = {}) => ({ REDIS_URL: server.url, ...more });

  test.each([
    [['', 'alice'], /^--from : allowed/],
    [['dev_user', 'dev_user'], /^dev_user has these documents already/],
    [['nobody', 'alice'], /^--from nobody: nobody of this name has used this service/],
    [
      ['dev_user', 'Alice Smith'],
      /^--to Alice Smith: nobody of this name .* makes tokens for alice_smith\.$/,
    ],
  ])('refuses %j with a sentence, and changes nothing', async ([from = '', to = ''], sentence) => {
    await createRecords(redis).create(completed('dev_user', Math.random()));
    const before = await readOwned(redis, 'dev_user');
    const { code, stdout, stderr } = await runQuire(giving(from, to), env());
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trim()).toMatch(sentence);
    expect(await readOwned(redis, 'dev_user')).toEqual(before);
  });

  test('says which documents stay, and why', async () => {
    const records = createRecords(redis);
    for (let i = 0; i < 4; i += 1) await records.create(completed('frank', i));
    const busy = makeDocument({ ownerId: 'frank' });
    await records.create(busy);
    // It counts once, however often it changes.
    const stop = new AbortController();
    const changing = (async () => {
      for (let i = 0; !stop.signal.aborted; i += 1) {
        await records.update(busy.id, (now) => patch(now, { metadata: { i } }));
        // A pass that never meets it says that it has changed meanwhile.
        await sleep(5);
      }
    })();
    const give = (more = {}) => runQuire(giving('frank', 'grace'), env(more));
    const { code, stdout } = await give({ QUIRE_QUOTA_DOCUMENTS: '3' });
    expect(code).toBe(1);
    expect(stdout.trim().split('\n').sort()).toEqual([
      '1 document of frank stays: The quota of documents is reached: 3.',
      expect.stringMatching(/^1 document of frank stays: still being ingested/),
      '3 documents of frank now belong to grace.',
    ]);
    expect(await readOwned(redis, 'grace')).toEqual({ documents: 3, bytes: 30, chunks: 6 });
    expect(await give()).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^1 document of frank now/),
    });
    expect(await readOwned(redis, 'frank')).toMatchObject({ documents: 1 });
    stop.abort();
    await changing;
  });

  test('goes on where it was killed', async () => {
    const records = createRecords(redis);
    const COUNT = 1_500;
    const documents = Array.from({ length: COUNT }, (_, i) => completed('heidi', i, i));
    await Promise.all(documents.map((document) => records.create(document)));
    const before = await readOwned(redis, 'heidi');
    const total = await readOwnedTotals(redis);
    // Others change them meanwhile.
    const stop = new AbortController();
    const changing = (async () => {
      for (let i = 0; !stop.signal.aborted; i = (i + 7) % COUNT)
        await records.update(documents[i]?.id ?? '', (now) => patch(now, { metadata: { i } }));
    })();
    let kills = 0;
    for (;;) {
      const at = (await readOwned(redis, 'ivan')).documents;
      const { child, ended } = startQuire(giving('heidi', 'ivan'), env());
      if (kills === 3) {
        expect(await ended).toMatchObject({ code: 0, stderr: '' });
        break;
      }
      await until(
        async () => (await readOwned(redis, 'ivan')).documents > at + 100 || child.exitCode !== null,
      );
      child.kill('SIGKILL');
      await once(child, 'exit');
      expect((await readOwned(redis, 'ivan')).documents).toBeLessThan(COUNT);
      kills += 1;
    }
    stop.abort();
    await changing;
    const owners = await Promise.all(documents.map(async ({ id }) => (await records.read(id))?.ownerId));
    expect(new Set(owners)).toEqual(new Set(['ivan']));
    expect(await readOwned(redis, 'ivan')).toEqual(before);
    expect(await redis.exists([keys.owned('heidi'), keys.contentHashes('heidi')])).toBe(0);
    expect(await redis.zCard(keys.contentHashes('ivan'))).toBe(COUNT);
    expect(await readOwnedTotals(redis)).toEqual(total);
    // Each is left to the sweep, or to a job.
    const left = await Promise.all(documents.map(({ id }) => redis.zScore(keys.unfinished, id)));
    expect(left.filter((score) => score === null)).toEqual([]);
  });
});
