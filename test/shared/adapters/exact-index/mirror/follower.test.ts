import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  createMirrorClient,
  type MirrorClient,
} from '../../../../../src/shared/adapters/exact-index/mirror/client.js';
import { createFollower } from '../../../../../src/shared/adapters/exact-index/mirror/follower.js';
import { loadMirror } from '../../../../../src/shared/adapters/exact-index/mirror/mirror.js';
import { forgetDeletions } from '../../../../../src/shared/documents/tombstones.js';
import { openIndexData, type IndexData } from '../../../../contracts/index-data.js';
import { emptyTestRedis } from '../../../../support/use-test-redis.js';
import { until } from '../../../../support/until.js';

const createMirror = await loadMirror();
const TWO_DAYS = 172_800_000;

let data: IndexData;
let client: MirrorClient;

beforeEach(async () => {
  const url = await emptyTestRedis();
  data = await openIndexData(url);
  client = createMirrorClient({ url, vectors: null, onConnect: () => undefined, onError: () => undefined });
  await until(() => client.readHead().then(Boolean, () => false));
});

afterEach(() => {
  client.close();
  data.redis.destroy();
});

async function ingest(): Promise<string> {
  const id = await data.create();
  await data.publish(id, [[1, 0, 0]]);
  return id;
}

/** Deletes a document, whose deletion leaves the change log before anybody reads it. */
async function removeUnseen(id: string): Promise<void> {
  await data.remove(id);
  await forgetDeletions(data.redis, Date.now() + TWO_DAYS);
}

/** A mirror that reads from Redis when it is told to, and at no other time. */
function open(reads: MirrorClient = client) {
  const mirror = createMirror({ held: 'of-terms', onDirty: () => undefined });
  const begun: string[] = [];
  const follower = createFollower({
    client: reads,
    mirror,
    report: () => undefined,
    onWork: () => undefined,
    onPrepared: () => undefined,
    onState: (state) => void begun.push(state),
  });
  return { mirror, follower, begun };
}

test('a mirror that slept while deletions left the change log drops these documents, and loads nothing again', async () => {
  const [kept, deleted] = [await ingest(), await ingest()];
  const { mirror, follower, begun } = open();
  await follower.sync();
  expect([...mirror.documentIds()].sort()).toEqual([kept, deleted].sort());

  await removeUnseen(deleted);
  await follower.sync();
  expect([...mirror.documentIds()]).toEqual([kept]);
  expect(mirror.chunkCount).toBe(1);

  const added = await ingest();
  await follower.sync();
  expect([...mirror.documentIds()].sort()).toEqual([kept, added].sort());
  expect(begun).toEqual(['loading', 'loading', 'ready', 'ready', 'ready']);
});

test('so does one that was loading meanwhile', async () => {
  const [kept, deleted] = [await ingest(), await ingest()];
  let isLoaded = false;
  const { mirror, follower } = open({
    ...client,
    readChanges: async (after) => {
      // The first documents are loaded, and the last page of changes is still to come.
      if (after > 0 && !isLoaded) {
        isLoaded = true;
        await removeUnseen(deleted);
      }
      const changes = await client.readChanges(after);
      return isLoaded ? changes : { ...changes, isLastPage: false };
    },
  });
  await follower.sync();
  expect(isLoaded).toBe(true);
  expect([...mirror.documentIds()]).toEqual([kept]);
});

test('deletions that left the log before a mirror began to load do not make it look again', async () => {
  const kept = await ingest();
  await removeUnseen(await ingest());
  let records = 0;
  const { mirror, follower } = open({
    ...client,
    readRecords: (ids) => {
      records += ids.length;
      return client.readRecords(ids);
    },
  });
  await follower.sync();
  expect([...mirror.documentIds()]).toEqual([kept]);
  expect(records).toBe(1);
});
