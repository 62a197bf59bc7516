import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { startQueryEngine } from '../support/query-engine-server.js';
import { describeWithQueryEngine } from '../support/query-engine.js';
import { statisticsDifferences } from '../support/recount-statistics.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { runQuire } from '../support/run-quire.js';
import { S3_BUCKET, startTestS3 } from '../support/s3.js';
import { startService, type Service } from '../support/service.js';
import { modesIn } from '../support/modes-in.js';
import { until } from '../support/until.js';

describe('with the exact index', () => {
  testBackups('exact', () => startTestRedis());
});
describeWithQueryEngine('with the query-engine index', (engine) => {
  testBackups('query-engine', () => startQueryEngine(engine));
});

const INDEXED = { prefer: 'wait=60' };
const USERS = ['ann', 'ben', 'cleo'] as const;

function testBackups(index: 'exact' | 'query-engine', startRedis: () => Promise<TestRedis>): void {
  let folder: string;
  let service: Service;
  let restored: Service | null = null;
  let target: TestRedis;
  let kept: readonly WireDocument[];

  const settings = { QUIRE_INDEX: index, QUIRE_WORKERS_KEEP_SOURCES_SECONDS: '3600' };
  const place = () => join(folder, 'backup');
  const environment = (redis: TestRedis, dataDirectory: string) => ({
    REDIS_URL: redis.url,
    QUIRE_DATA_DIR: dataDirectory,
  });
  const backup = (where: string, more: Record<string, string> = {}) =>
    runQuire(['backup', where], { ...environment(service.redis, service.dataDirectory), ...more });
  const restore = (...args: readonly string[]) =>
    runQuire(['restore', ...args], environment(target, join(folder, 'data')));
  const withTarget = async <Result>(use: (redis: Redis) => Promise<Result>): Promise<Result> => {
    const redis = createRedis(target.url, { failFast: true, onError: () => undefined });
    await redis.connect();
    try {
      return await use(redis);
    } finally {
      redis.destroy();
    }
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quire-backup-'));
    service = await startService({ redis: await startRedis(), env: settings });
    target = await startRedis();
    kept = await fill(createClient(service.url, 'ann'));
  });
  afterAll(async () => {
    await Promise.all([service.stop(), restored?.stop()]);
    await Promise.all([service.redis.stop(), target.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  test('a backup that is made while others write is of one moment', async () => {
    const load = writeOn(service.url);
    await until(() => load.written() > 20);
    const { code, stdout, stderr } = await backup(place());
    await load.stop();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^\d+ documents, as they were at 20\S+Z, are in .*\/backup\. Who wrote waited for \d+ ms\.\n$/,
    );
    // Nobody else of the host may read it.
    expect((await stat(place())).mode & 0o077).toBe(0);

    expect(await restore(place())).toMatchObject({ code: 0, stderr: '' });
    restored = await startService({
      redis: target,
      dataDirectory: join(folder, 'data'),
      env: settings,
    });
    const ben = createClient(restored.url, 'ben');
    const all = async () => {
      const pages: WireDocument[] = [];
      for (let more = true; more;) {
        const path = `/documents?limit=100&skip=${String(pages.length)}`;
        const { body } = await ben.get<WireDocument[]>(path);
        pages.push(...body);
        more = body.length === 100;
      }
      return pages;
    };
    // Documents that were being ingested at that moment go on.
    await until(async () => (await all()).every((each) => each.system_metadata.status === 'completed'), 60);
    const numbers = (await all()).map(({ metadata }) => metadata);
    const { left, right } = Object.assign({}, ...numbers) as { left: number; right: number };
    // The left one is always written first, and the right one then.
    expect([right, right + 1]).toContain(left);
    const written = numbers.flatMap(({ n }) => (typeof n === 'number' ? [n] : [])).sort((a, b) => a - b);
    expect(written).toEqual(written.map((_, at) => at));
    expect(written.length).toBeGreaterThan(10);
    await until(() => withTarget(async (redis) => (await statisticsDifferences(redis)).length === 0), 30);
  });

  test('it holds every document, list of access, source and count', async () => {
    const urls = [service.url, restored?.url ?? ''];
    for (const user of USERS) {
      const [here, there] = await Promise.all(urls.map((url) => seenBy(url, user, kept)));
      expect(there).toEqual(here);
    }
    // Cleo has done as much here as there, and nothing while others wrote.
    const [here, there] = await Promise.all(
      urls.map(async (url) => (await createClient(url, 'cleo').get('/usage/stats')).body),
    );
    expect(there).toEqual(here);
    expect(JSON.stringify(here)).toMatch(/[1-9]/);
  });

  test('it is not restored into a Redis with documents, nor over another backup', async () => {
    expect(await restore(place())).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('holds documents'),
    });
    expect(await backup(place())).toMatchObject({ code: 1, stderr: expect.stringContaining('already') });
    expect(await restore(join(folder, 'nothing'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no whole backup'),
    });
    expect(existsSync(join(folder, 'nothing'))).toBe(false);
  });

  test('nobody else can read it, also in a folder that others may enter', async () => {
    const open = join(folder, 'open');
    await mkdir(open, { mode: 0o755 });
    expect(await backup(open)).toMatchObject({ code: 0 });
    expect(new Set(await modesIn(open))).toEqual(new Set([0]));
  });

  test('what an operator can mend is told in a sentence', async () => {
    const away = await backup(join(folder, 'away'), { REDIS_URL: 'redis://127.0.0.1:1' });
    expect(away).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^redis is unavailable: .*ECONNREFUSED.*\n$/),
    });
  });

  test('no process uses what is restored in part, and the restore can be run again', async () => {
    await restored?.stop();
    restored = null;
    await withTarget((redis) => redis.set(keys.restoring, place()));
    const start = startService({ redis: target, dataDirectory: join(folder, 'data'), env: settings });
    await expect(start).rejects.toThrow(/has not come to its end/);
    expect(await restore(place())).toMatchObject({ code: 0 });
    restored = await startService({ redis: target, dataDirectory: join(folder, 'data'), env: settings });
    const [here, there] = await Promise.all([service, restored].map(({ url }) => seenBy(url, 'ann', kept)));
    expect(there).toEqual(here);
  });

  test('a damaged part is found, and nothing is restored then', async () => {
    const parts = join(place(), 'objects', 'keys');
    const [run = ''] = await readdir(parts);
    expect(await restore('--check', place())).toMatchObject({ code: 0 });
    const [first = ''] = await readdir(join(parts, run));
    await appendFile(join(parts, run, first), 'x');
    for (const args of [['--check', place()], [place()]])
      expect(await restore(...args)).toMatchObject({ code: 1, stderr: expect.stringContaining('damaged') });
  });

  test('a bucket can hold it', async () => {
    const s3 = await startTestS3();
    try {
      const { QUIRE_OBJECT_STORAGE: _, ...access } = s3.env;
      const address = `s3://${S3_BUCKET}/nightly/one`;
      expect(await backup(address, access)).toMatchObject({ code: 0 });
      expect(await s3.keys()).toContain('nightly/one/manifest.json');
      const check = await runQuire(['restore', '--check', address], access);
      expect(check).toMatchObject({ code: 0, stdout: expect.stringContaining('can be restored') });
    } finally {
      await s3.stop();
    }
  });
}

/** Documents of all kinds of Ann, which Ben and Cleo may read in part. */
async function fill(ann: Client): Promise<readonly WireDocument[]> {
  const lists = [{}, { readers: ['ben'] }, { readers: ['ben', 'cleo'], writers: ['cleo'] }];
  const texts = ['A short text about marmots.', `A long text. ${'Marmots sleep all winter. '.repeat(800)}`];
  const made: WireDocument[] = [];
  for (const [at, access_control] of lists.entries())
    for (const content of texts) {
      const { status, body } = await ann.ingestText(
        content,
        { access_control, metadata: { list: at } },
        INDEXED,
      );
      expect(status).toBe(200);
      made.push(body);
    }
  const { body: file } = await ann.ingestFile(
    Buffer.from('# Marmots\n\nIn a file.\n'),
    'marmots.md',
    INDEXED,
  );
  const { body: gone } = await ann.ingestText('This one is deleted.', {}, INDEXED);
  await ann.delete(`/documents/${gone.external_id}`);
  return [...made, file];
}

/** The answers that a user gets about documents: whether they may see each, its content, and where it is found. */
async function seenBy(url: string, user: string, documents: readonly WireDocument[]) {
  const client = createClient(url, user);
  const seen = await Promise.all(
    documents.map(async ({ external_id: id }) => {
      const { status, body } = await client.get(`/documents/${id}`);
      const chunks = await client.get(`/documents/${id}/chunks`);
      const source = await fetch(`${url}/documents/${id}/download`, {
        headers: { authorization: client.authorization },
      });
      return {
        status,
        body,
        chunks: chunks.body,
        source: createHash('md5')
          .update(await source.text())
          .digest('hex'),
      };
    }),
  );
  const { body: hits } = await client.searchChunks('marmots sleep', {
    k: 50,
    filters: { list: { $gte: 0 } },
  });
  // The rarity of a word depends on later writes, and with it the score.
  return { seen, hits: hits.map((hit) => `${hit.document_id} ${String(hit.chunk_number)}`) };
}

/** Writes as Ben: documents with rising numbers, and two documents of which one is always written before the other. */
function writeOn(url: string) {
  const ben = createClient(url, 'ben');
  let written = 0;
  let isOver = false;
  const number = async (): Promise<void> => {
    for (let n = 0; !isOver; n += 1) {
      const { status } = await ben.ingestText(`Number ${String(n)} of the load. ${'Word. '.repeat(n % 40)}`, {
        metadata: { n },
      });
      expect([200, 202]).toContain(status);
      written += 1;
    }
  };
  const count = async (): Promise<void> => {
    const pair = await Promise.all(
      ['left', 'right'].map(async (name) => {
        const { body } = await ben.ingestText(`The ${name} one.`, { metadata: { [name]: 0 } }, INDEXED);
        return { name, path: `/documents/${body.external_id}` };
      }),
    );
    for (let n = 1; !isOver; n += 1)
      for (const { name, path } of pair)
        expect((await ben.patch(path, { metadata: { [name]: n } })).status).toBe(200);
  };
  const work = Promise.all([number(), count()]);
  return {
    written: () => written,
    stop: async () => {
      isOver = true;
      await work;
    },
  };
}
