import { beforeEach, expect, test } from '@jest/globals';
import { createChunks } from '../../../src/shared/chunks/chunks.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import { patch } from '../../../src/shared/documents/transitions.js';
import { createTermStatistics } from '../../../src/shared/term-statistics/term-statistics.js';
import { createRetagJob } from '../../../src/workers/maintenance/retag-job.js';
import { makeContent, makeDocument } from '../../support/documents.js';
import { useLongIngest } from '../../support/long-ingest.js';
import { isAtRest, statisticsDifferences } from '../../support/recount-statistics.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { url, redis } = useTestRedis({ failFast: false });
const known = createRecords(redis);
const ingest = useLongIngest({ url, redis });
const retag = createRetagJob({
  records: known,
  chunks: createChunks(redis),
  statistics: createTermStatistics(redis),
});
let isAway = false;
const records: typeof known = {
  ...known,
  update: (...change) => (isAway ? Promise.reject(new Error('Redis is away')) : known.update(...change)),
};

beforeEach(async () => {
  await redis.flushAll();
});

/** A file whose texts are embedded, and that could not be published. */
async function unpublished() {
  const pending = makeContent({ kind: 'file', filename: 'otters of the lake.md' });
  const document = makeDocument({ pending });
  await known.create(document);
  const run = () => ingest(document, ['It swims.', 'It dives.'], { records });
  const { embed, made } = await run();
  isAway = true;
  await expect(embed()).rejects.toThrow('Redis is away');
  isAway = false;
  return { id: document.id, run, embed, made };
}

const rename = (id: string) => known.update(id, (each) => patch(each, { filename: 'herons of a river.md' }));

async function retagNow(id: string): Promise<void> {
  const record = await known.read(id);
  if (record && record.retag > 0) await retag({ documentId: id, mark: record.retag });
}

test.each([
  ['before it is tagged anew', () => Promise.resolve()],
  ['after that', retagNow],
])('a renamed file whose jobs run again is counted by its new name, %s', async (_, first) => {
  const { id, run } = await unpublished();
  await rename(id);
  await first(id);
  const { embed } = await run();
  expect(await embed()).toBe('published');
  await retagNow(id);
  expect(await statisticsDifferences(redis)).toEqual([]);
  expect(await isAtRest(redis)).toBe(true);
});

test('what is embedded is not embedded again where only its publication failed', async () => {
  const { embed, made } = await unpublished();
  expect(made.texts).toBe(2);
  expect(await embed()).toBe('published');
  expect(made.texts).toBe(2);
});
