import { expect, test } from '@jest/globals';
import { equalsTag } from '../../../../src/shared/filters/index-tags.js';
import type { Filter } from '../../../../src/shared/filters/parse.js';
import { ID_PATH, OWNER_PATH } from '../../../../src/shared/filters/paths.js';
import { keys } from '../../../../src/shared/redis/keys.js';
import { openIndexData, unit } from '../../../contracts/index-data.js';
import { startQueryEngine } from '../../../support/query-engine-server.js';
import { describeWithQueryEngine, openQueryEngineIndex } from '../../../support/query-engine.js';
import { until } from '../../../support/until.js';

const X = [1, 0, 0, 0];

describeWithQueryEngine('documents of an earlier version, whose tags do not name their owners', (engine) => {
  test('are found by their owners all the same, and the engine is asked once all are tagged', async () => {
    const redis = await startQueryEngine(engine);
    const index = await openQueryEngineIndex(redis.url);
    const data = await openIndexData(redis.url);
    try {
      await until(async () => (await index.state()) === 'ready');
      const id = await data.create({ ownerId: 'bob', readers: ['owner'] });
      const generation = await data.publish(id, [X]);
      const chunk = keys.chunk(generation, 0);
      const old = (await data.redis.hGet(chunk, 'tags'))
        ?.split(',')
        .filter((tag) => tag !== equalsTag(OWNER_PATH, 'bob') && tag !== equalsTag(ID_PATH, id))
        .join(',');
      for (const key of [chunk, keys.document(id)]) await data.redis.hSet(key, 'tags', old ?? '');
      await data.redis.del(keys.filterTagsRenewed);
      const of = async (filter: Filter) => ({
        found: (
          await index.vectors.search({ vector: unit(X), principal: { id: 'owner' }, filter, limit: 9 })
        ).map(({ documentId }) => documentId),
        listed: (await index.list({ principal: { id: 'owner' }, filter, skip: 0, limit: 9 })).ids,
      });
      const bobs: Filter = { type: 'equals', path: OWNER_PATH, values: ['bob'] };
      const named: Filter = { type: 'equals', path: ID_PATH, values: [id] };
      for (const filter of [bobs, named]) expect(await of(filter)).toEqual({ found: [id], listed: [id] });
      expect((await of({ type: 'not', filter: bobs })).listed).toEqual([]);
      await data.redis.hSet(keys.filterTagsRenewed, 'done', '1');
      expect(await of(bobs)).toEqual({ found: [], listed: [] });
    } finally {
      await index.close();
      data.redis.destroy();
      await redis.stop();
    }
  });
});
