import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RESP_TYPES } from 'redis';
import { termFields } from '../../src/shared/chunks/fields.js';
import { createRecords } from '../../src/shared/documents/records.js';
import type { DocumentRecord } from '../../src/shared/document.js';
import { statisticsOwner } from '../../src/shared/documents/transitions.js';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { createTermStatistics } from '../../src/shared/term-statistics/term-statistics.js';
import { listTerms } from '../../src/shared/text/list-terms.js';
import { packList } from '../../src/index/scoring/packed-terms.js';
import { batchCount, batchNumbers } from '../../src/shared/batches.js';
import { createClient } from '../support/client.js';
import { describeOnEachIndex } from '../support/each-index.js';
import { isAtRest, statisticsDifferences } from '../support/recount-statistics.js';
import { startReindex } from '../support/reindex.js';
import type { Service } from '../support/service.js';
import { until } from '../support/until.js';

describeOnEachIndex((start) => {
  let service: Service;
  let redis: Redis;

  beforeAll(async () => {
    service = await start({ env: { QUIRE_CHUNK_SIZE: '32', QUIRE_CHUNK_OVERLAP: '0' } });
    redis = createRedis(service.redis.url, { failFast: true, onError: () => undefined });
    await redis.connect();
  });
  afterAll(async () => {
    redis.destroy();
    await service.stop();
  });

  const client = () => createClient(service.url);
  const finds = async (query: string) => {
    const { body } = await client().searchChunks(query, { k: 3, min_score: 0.01 });
    return body.map(({ document_id: id }) => id);
  };
  const ingest = async (content: string, fields = {}) => {
    const { status, body } = await client().ingestText(content, fields);
    expect(status).toBe(200);
    return body.external_id;
  };

  test('data whose words an older analysis made is refused, made anew, and then found by the words of today', async () => {
    const cafe = await ingest('The café by the harbour serves C++ programmers.');
    const named = await ingest('Figures of the year.', { filename: 'zebra_budget_2024.txt' });
    const sections = Array.from(
      { length: 90 },
      (_, i) => `Paragraph ${String(i)}.${String(i + 1)} speaks of marmots.`,
    );
    const long = await ingest(sections.join('\n\n'));
    await until(() => isAtRest(redis));
    await Promise.all([service.api, ...service.workers.splice(0)].map((each) => each.kill('SIGTERM')));
    await ageWords(redis);
    // The data in Redis is whole, in itself: its statistics count the older words.
    expect(await statisticsDifferences(redis)).toEqual([]);

    const refused = service.startWorker('usage');
    await until(() => refused.child.exitCode === 78);
    expect(refused.output()).toContain('npx quire reindex');
    service.workers.pop();

    const env = { QUIRE_INDEX: (await redis.hGet(keys.schema, 'index')) === null ? 'exact' : 'query-engine' };
    const run = startReindex(service, env);
    expect([await run.ended, run.output()]).toEqual([0, expect.stringContaining('Done.')]);
    await service.startApi();
    service.startWorker();
    await service.untilReady();

    expect(await finds('cafe')).toEqual([cafe]);
    expect(await finds('C++')).toEqual([cafe]);
    expect(await finds('zebra budget 2024')).toEqual([named]);
    expect(await finds('41.42')).toContain(long);
    expect(await finds(OLD_WORD)).toEqual([]);
    await until(() => isAtRest(redis));
    expect(await statisticsDifferences(redis)).toEqual([]);
    expect(await client().delete(`/documents/${long}`)).toMatchObject({ status: 200 });
    await until(() => isAtRest(redis));
    expect(await statisticsDifferences(redis)).toEqual([]);
  });
});

const OLD_WORD = 'oldword';

/** Gives all chunks, and the statistics of their owners, other words than today's, as an older program would have left them. */
async function ageWords(redis: Redis): Promise<void> {
  const records = createRecords(redis);
  for (const id of await redis.zRange(keys.changes, 0, -1)) {
    const record = await records.read(id);
    if (record?.published?.generation) await ageDocument(redis, record);
  }
  await redis.hDel(keys.schema, 'analysis');
  await redis.hSet(keys.schema, 'model', 'builtin-1');
}

async function ageDocument(redis: Redis, record: DocumentRecord): Promise<void> {
  const statistics = createTermStatistics(redis);
  const binary = redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  const { generation, chunkCount } = record.published ?? { generation: null, chunkCount: 0 };
  if (generation === null) throw new Error(`${record.id} has no chunks`);
  for (let batch = 0; batch < batchCount(chunkCount); batch += 1) {
    const numbers = batchNumbers(batch, chunkCount);
    const settle = async (owner: string | null) => {
      const chunks = [];
      for (const number of numbers) {
        const terms = await binary.hGet(keys.chunk(generation, number), 'terms');
        if (!(terms instanceof Buffer))
          throw new Error(`chunk ${String(number)} of ${record.id} has no terms`);
        chunks.push({ number, terms });
      }
      const wanted = { documentId: record.id, revision: record.revision, owner };
      expect(await statistics.settle({ generation, batch, chunks }, wanted)).toBe('settled');
    };
    await settle(null);
    const older = packList(listTerms(`${OLD_WORD} and other words`));
    for (const number of numbers) await redis.hSet(keys.chunk(generation, number), termFields(older));
    await settle(statisticsOwner(record));
  }
}
