import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BATCH_SIZE, batchCount, batchNumbers } from '../../src/shared/batches.js';
import { createChunks, type Chunks } from '../../src/shared/chunks/chunks.js';
import { generationId, type DocumentRecord } from '../../src/shared/document.js';
import { documentTags } from '../../src/shared/documents/record-fields.js';
import { createRecords, type Records } from '../../src/shared/documents/records.js';
import { patch, publish, remove, startAttempt, type Fence } from '../../src/shared/documents/transitions.js';
import type { Index } from '../../src/shared/ports.js';
import { createJobs, type Jobs } from '../../src/shared/queues/jobs.js';
import { bullConnection, createRedis, type Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { createReadHits } from '../../src/shared/search/read-hits.js';
import { createTermStatistics } from '../../src/shared/term-statistics/term-statistics.js';
import { createUsage, usageEvent } from '../../src/shared/usage/usage.js';
import { updateTermCounts } from '../../src/workers/ingestion/update-term-counts.js';
import { createCleanJob } from '../../src/workers/maintenance/clean-job.js';
import { createRetagJob } from '../../src/workers/maintenance/retag-job.js';
import { aggregateUsage } from '../support/aggregate-usage.js';
import { makeContent, makeDocument, makeOperation } from '../support/documents.js';
import {
  below,
  DIMENSIONS,
  LARGE_CHUNKS,
  longList,
  longMetadata,
  MANY_CHUNKS,
  PUSH_TEN,
  sentence,
  type Shape,
  someTerms,
  someVector,
  text,
} from '../support/large-data.js';
import { startQueryEngine } from '../support/query-engine-server.js';
import { describeWithQueryEngine, openQueryEngineIndex } from '../support/query-engine.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { slowCommands } from '../support/slow-commands.js';
import { until } from '../support/until.js';

interface Written {
  readonly document: DocumentRecord;
  readonly generation: string;
  readonly fence: Fence;
}

/** No command of ours holds Redis up for longer, at the limits of the contract. */
const MAX_MILLISECONDS = 50;

function limits(shapes: readonly Shape[], start: () => Promise<{ server: TestRedis; index: Index | null }>) {
  let server: TestRedis;
  let index: Index | null;
  let redis: Redis;
  let records: Records;
  let chunks: Chunks;
  let statistics: ReturnType<typeof createTermStatistics>;
  let jobs: Jobs;

  beforeAll(async () => {
    ({ server, index } = await start());
    redis = createRedis(server.url, { failFast: false, onError: () => undefined });
    await redis.connect();
    await until(async () => index === null || (await index.state()) === 'ready');
    records = createRecords(redis);
    chunks = createChunks(redis);
    statistics = createTermStatistics(redis);
    const connection = bullConnection(server.url, { failFast: false });
    jobs = createJobs({ connection, redis, onError: () => undefined });
  });
  afterAll(async () => {
    await index?.close();
    await jobs.close();
    redis.destroy();
    await server.stop();
  });

  /** A document as the ingest queue leaves it, its chunks written and handed to embedding. */
  const write = async ({ count, repeats }: Shape): Promise<Written> => {
    const document = makeDocument({ metadata: longMetadata(), operation: makeOperation() });
    await records.create(document);
    const fence = { documentId: document.id, version: 1, attempt: 1 };
    const started = await records.update(document.id, (each) => startAttempt(each, fence));
    const generation = generationId(document);
    const tags = documentTags({ ...document, published: document.pending, pending: null });
    for (let first = 0; first < count; first += BATCH_SIZE) {
      const pieces = Array.from({ length: Math.min(BATCH_SIZE, count - first) }, (_, i) => ({
        text: sentence.repeat(repeats),
        tokenCount: 512,
        overlap: 0,
        hash: String(first + i),
        like: null,
      }));
      const batch = { documentId: document.id, generation, first, chunks: pieces, tags, named: '' };
      await chunks.writeTexts(batch, started.record?.revision ?? 0);
    }
    await chunks.close(generation, { chunks: count, tokens: 512 * count });
    const batches = Array.from({ length: batchCount(count) }, (_, batch) => batch);
    await jobs.addEmbeds(fence, batches, { total: batches.length, callerId: 'alice', requestId: 'r' });
    return { document, generation, fence };
  };

  const embed = async (document: DocumentRecord, shape: Shape) => {
    const generation = generationId(document);
    for (let batch = 0; batch < batchCount(shape.count); batch += 1) {
      const made = batchNumbers(batch, shape.count).map((number) => ({
        number,
        vector: someVector(shape),
        terms: someTerms(shape),
      }));
      await chunks.writeEmbedded(generation, { batch, chunks: made, owner: document.ownerId, named: '' });
      const counted = { documentId: document.id, generation, batch };
      expect(await updateTermCounts({ records, statistics }, counted, () => Promise.resolve(made))).toBe(
        true,
      );
      await chunks.finishBatch(generation, { batch, of: batchCount(shape.count) });
    }
  };

  test.each(shapes)(
    'a document of $count chunks goes in, changes and goes away in short steps',
    async (shape) => {
      const { count: chunkCount } = shape;
      const clean = createCleanJob({ chunks, statistics });
      const retag = createRetagJob({ records, chunks, statistics });
      const steps: Record<string, unknown> = {};
      const slow = async (name: string, work: () => Promise<unknown>) => {
        const found = await slowCommands({ redis }, MAX_MILLISECONDS, work);
        if (found.length > 0) steps[name] = found;
      };
      // A try after the first takes another document where the work can be done but once.
      const written: Written[] = [];
      const published: Written[] = [];
      const writeOne = async () => {
        const one = await write(shape);
        await embed(one.document, shape);
        return one;
      };
      const publishOne = async () => {
        const one = written.pop() ?? (await writeOne());
        const counts = { ...one.fence, chunkCount, tokenCount: 512 * chunkCount };
        await records.update(one.document.id, (each) => publish(each, counts));
        return one;
      };
      await slow('write', async () => written.push(await writeOne()));
      await slow('publish', async () => published.push(await publishOne()));
      const [{ document, generation } = await publishOne()] = published;
      const lists = {
        readers: longList('r', shape.listed),
        writers: longList('w', shape.listed),
        admins: longList('a', shape.listed),
      };
      // The owner may read it, may not, and may again: its terms leave the statistics and come back.
      const changeAll = async () => {
        for (const owners of [[], [document.ownerId]]) {
          const metadata = { ...longMetadata(), again: below(1_000) };
          const readers = [...owners, ...lists.readers.slice(owners.length)];
          const { record } = await records.update(document.id, (each) =>
            patch(each, { ...lists, readers, metadata }),
          );
          expect(await retag({ documentId: document.id, mark: record?.retag ?? 0 })).toBe('done');
        }
      };
      await slow('patch and retag', changeAll);
      await slow('delete', async () => {
        const one = published.pop() ?? (await publishOne());
        const { discarded } = await records.update(one.document.id, remove);
        await jobs.addCleans(discarded, 'alice');
        for (const each of discarded) expect(await clean(each)).toBe('done');
      });
      expect(steps).toEqual({});
      expect(await chunks.readTexts(generation, 0, 64)).toEqual([]);
    },
    600_000,
  );

  test('a thousand hits with the longest metadata and access lists are read in short steps', async () => {
    const readHits = createReadHits(redis);
    const lists = { readers: longList('r'), writers: longList('w'), admins: longList('a') };
    const create = async (more: object) => {
      const published = makeContent({ chunkCount: 1 });
      const document = makeDocument({ ...more, metadata: longMetadata(), published, pending: null });
      return records.create(document).then(() => keys.document(document.id));
    };
    const [long, short] = [await create(lists), await create({})];
    const ids = Array.from({ length: 1_000 }, () => randomUUID());
    for (const [n, id] of ids.entries()) {
      // Every tenth with lists at their limit: a gigabyte of them would be another test.
      await redis.copy(n % 10 === 0 ? long : short, keys.document(id));
      await redis.hSet(keys.document(id), { id: JSON.stringify(id) });
      await redis.hSet(keys.chunk(`${id}.1.1`, 0), { content: text });
    }
    const addresses = ids.map((id) => ({ generation: `${id}.1.1`, number: 0 }));
    const slow = await slowCommands({ redis }, MAX_MILLISECONDS, async () => {
      const { contents, records: found } = await readHits(addresses, ids, (record) => record);
      expect(contents.map((each) => each?.text)).toEqual(ids.map(() => text));
      expect(found.map((record) => record?.id)).toEqual(ids);
    });
    expect(slow).toEqual([]);
  }, 600_000);

  test('ten thousand usage records are moved, read and forgotten in short steps', async () => {
    const usage = createUsage(redis);
    const aggregate = aggregateUsage(redis);
    const event = (userId: string, n: number) =>
      usageEvent({
        operation: 'query',
        userId,
        status: 'success',
        tokens: n,
        startedAtMs: Date.now(),
        metadata: { query: '\u4e2d'.repeat(32_768), k: 4 },
      });
    // As earlier versions left them, with whole queries; and as they are now.
    for (const [user, length, all] of [
      ['old', 32_768, 300],
      ['new', 512, 10_000],
    ] as const) {
      const fill = async () => {
        for (let n = 0; n < all; n += 10) {
          const one = JSON.stringify({ ...event(user, n), metadata: { query: '\u4e2d'.repeat(length) } });
          await redis.eval(PUSH_TEN, { keys: [keys.usagePending(user)], arguments: [one] });
        }
        await redis.sAdd(keys.usageDirty, user);
      };
      const found = await slowCommands({ redis }, MAX_MILLISECONDS, async () => {
        await fill();
        await usage.append(event(user, 0));
        expect((await usage.stats(user))['query']).toBeGreaterThan(all);
        const recent = await usage.recent(user, { limit: 1_000 });
        expect(recent.length).toBeGreaterThanOrEqual(Math.min(1_000, all + 1));
        while ((await aggregate({ keepDays: 90, keepRecords: 10_000 })) > 0);
        expect(await usage.recent(user, { limit: 1_000 })).toHaveLength(recent.length);
        expect(await usage.recent(user, { limit: 1_000, status: 'error' })).toEqual([]);
      });
      expect([user, found]).toEqual([user, []]);
      const trimmed = await slowCommands({ redis }, MAX_MILLISECONDS, async () => {
        await fill();
        while ((await aggregate({ keepDays: 90, keepRecords: 10_000 })) > 0);
        await usage.append(event(user, 0));
        await aggregate({ keepDays: 0, keepRecords: 10_000 });
      });
      expect([user, trimmed]).toEqual([user, []]);
    }
  }, 600_000);
}

describe('on plain Redis', () => {
  limits([MANY_CHUNKS, LARGE_CHUNKS], async () => ({ server: await startTestRedis(), index: null }));
});

describeWithQueryEngine('with the Query Engine', (engine) => {
  describe('and a flat index', () => {
    limits([LARGE_CHUNKS], async () => {
      const server = await startQueryEngine(engine);
      const dimensions = () => Promise.resolve(DIMENSIONS);
      return { server, index: await openQueryEngineIndex(server.url, { dimensions }) };
    });
  });
  describe('and a graph', () => {
    limits([LARGE_CHUNKS], async () => {
      const server = await startQueryEngine(engine);
      const algorithm = { name: 'hnsw' as const, m: 16, efConstruction: 200 };
      const dimensions = () => Promise.resolve(DIMENSIONS);
      return { server, index: await openQueryEngineIndex(server.url, { dimensions, algorithm }) };
    });
  });
});
