import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { noStatistics } from '../../../../src/index/index.js';
import { callerTags } from '../../../../src/shared/access/access.js';
import { termsQuery } from '../../../../src/shared/adapters/query-engine-index/chunk-query.js';
import { compileClause } from '../../../../src/shared/adapters/query-engine-index/clause.js';
import { chunkIndex } from '../../../../src/shared/adapters/query-engine-index/definition.js';
import type { Index } from '../../../../src/shared/ports.js';
import { weighQuery } from '../../../../src/shared/search/ranking.js';
import { termToken } from '../../../../src/shared/text/term-tokens.js';
import { parsed } from '../../../contracts/index-data.js';
import { startQueryEngine } from '../../../support/query-engine-server.js';
import { describeWithQueryEngine, openQueryEngineIndex } from '../../../support/query-engine.js';
import { fillWorld, FILTERS, OWNER, QUERIES } from '../../../support/recall-data.js';
import type { TestRedis } from '../../../support/redis.js';
import { openSearchWorld, WORLD_MODEL, type SearchWorld } from '../../../support/search-world.js';
import { until } from '../../../support/until.js';

const ALL = 10_000;
const replySchema = z.object({
  results: z.array(z.object({ id: z.string(), score: z.coerce.number() })),
});

describeWithQueryEngine('the scores of chunks that are found by words', (engine) => {
  let redis: TestRedis;
  let world: SearchWorld;
  let index: Index;
  let alias = '';

  beforeAll(async () => {
    redis = await startQueryEngine(engine);
    world = await openSearchWorld(redis.url);
    await fillWorld(world, { documents: 90, chunksEach: 5 });
    const { model, dimensions } = WORLD_MODEL;
    index = await openQueryEngineIndex(redis.url, { model, dimensions: () => Promise.resolve(dimensions) });
    await until(async () => (await index.state()) === 'ready', 300);
    const vectors = { field: 'vector', type: 'float32' } as const;
    ({ alias } = chunkIndex({ model, dimensions, vectors, algorithm: { name: 'flat' } }));
  });
  afterAll(async () => {
    await index.close();
    world.close();
    await redis.stop();
  });

  const scoresOf = async (query: readonly (string | Buffer)[]): Promise<Map<string, number>> => {
    const reply = await world.redis.sendCommand(['FT.SEARCH', alias, ...query, 'DIALECT', '2']);
    return new Map(replySchema.parse(reply).results.map(({ id, score }) => [id, score]));
  };

  const words = weighQuery(QUERIES[1] ?? '', noStatistics);
  const ofWordsAlone = () => {
    const text = Array.from(words.terms, (term) => `(@words:${termToken(term)})`).join('|');
    const how = ['VERBATIM', 'SCORER', 'BM25STD', 'WITHSCORES', 'NOCONTENT', 'LIMIT', '0', String(ALL)];
    return scoresOf([text, ...how]);
  };
  /**
   * The factors by which each chunk scores more with a condition than by its words alone: the least, the greatest, and
   * their number.
   */
  const factors = async (within: string) => {
    const alone = await ofWordsAlone();
    const found = await scoresOf(termsQuery(within, { terms: words, limit: ALL }));
    const all = [...found].map(([id, score]) => score / (alone.get(id) ?? NaN));
    return { min: Math.min(...all), max: Math.max(...all), count: all.length, scores: found };
  };

  /** The exclusions of a query: nothing, a few generations, as many as are left out a word. */
  const hidden = [0, 2, 50].map((count) => {
    const ids = Array.from(
      { length: count },
      (_, i) => String.raw`0193f2a4\-0000\-7000\-8000\-${String(i)}\.1\.1`,
    );
    return count === 0 ? '' : ` -@generation:{${ids.join('|')}}`;
  });

  test.each(FILTERS)('are those of the words, whatever the filter: %s', async (_name, filter) => {
    const clause = compileClause(callerTags({ id: OWNER }, []), filter && parsed(filter));
    for (const without of hidden) {
      const { min, max, count, scores } = await factors(`${clause?.text ?? ''}${without}`);
      expect(count).toBeGreaterThan(20);
      expect(min).toBeGreaterThan(0);
      expect(max / min).toBeLessThan(1 + 1e-6);
      expect(new Set(scores.values()).size).toBeGreaterThan(10);
    }
  });

  test('that are all 0 are refused, since then nothing was ranked', async () => {
    const { readChunkReply } =
      await import('../../../../src/shared/adapters/query-engine-index/chunk-query.js');
    const text = Buffer.from.bind(Buffer);
    const row = (score: number) => [
      text('id'),
      text('quire:chunk:d.1.1:0'),
      text('score'),
      score,
      text('extra_attributes'),
      [text('terms'), text('packed')],
    ];
    const reply = (score: number) => [text('warning'), [], text('results'), [row(score), row(0)]];
    expect(readChunkReply(reply(1e-9)).candidates).toHaveLength(2);
    expect(() => readChunkReply(reply(0))).toThrow('index');
  });
});
