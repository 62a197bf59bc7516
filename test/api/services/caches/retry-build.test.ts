import { expect, test } from '@jest/globals';
import type { CacheRecord } from '../../../../src/shared/caches/cache-record.js';
import { failBuild, retryBuild, startBuild } from '../../../../src/shared/caches/transitions.js';

const config = {
  model: 'm',
  ggufFile: 'f',
  engine: { name: 'prompt' },
  shared: 'all',
  filters: null,
} as const;

const wanted = {
  ownerId: 'alice',
  name: 'cellar',
  build: 'b1',
  config,
  documentIds: ['d1', 'd2'],
  requestId: 'r1',
  operation: { type: 'create_cache', startedAtMs: 1, metadata: {} },
} as const;

function failed(): CacheRecord {
  const { cache } = startBuild(null, { ...wanted, documentIds: [...wanted.documentIds] });
  const failure = failBuild(cache, { build: 'b1', code: 'internal', message: 'it died' });
  if (!failure?.cache) throw new Error('the build did not fail');
  return failure.cache;
}

test('a build that failed is wanted again with its documents, and is not counted twice', () => {
  const again = retryBuild(failed(), { build: 'b1', requestId: 'r2' });
  expect(again).toMatchObject({
    usage: [],
    cache: {
      failure: null,
      building: { build: 'b1', documentIds: ['d1', 'd2'], requestId: 'r2', operation: null },
    },
  });
});

test('no build is retried that did not fail last, that another one follows, or whose cache is gone', () => {
  expect(retryBuild(failed(), { build: 'b0', requestId: 'r2' })).toBeNull();
  expect(retryBuild(null, { build: 'b1', requestId: 'r2' })).toBeNull();
  const { cache } = startBuild(failed(), { ...wanted, build: 'b2', documentIds: ['d1'] });
  expect(retryBuild(cache, { build: 'b1', requestId: 'r2' })).toBeNull();
});
