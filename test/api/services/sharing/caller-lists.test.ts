import { beforeEach, expect, test } from '@jest/globals';
import { noRoomFor } from '../../../../src/api/services/ingest/admission/require-room.js';
import { createCallerLists } from '../../../../src/api/services/sharing/caller-lists.js';
import { principalOf } from '../../../../src/shared/access/access.js';
import { createSharedViews } from '../../../../src/shared/access/sharing.js';
import { createRecords } from '../../../../src/shared/documents/records.js';
import { rejection } from '../../../support/rejection.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { redis } = useTestRedis();
const ann = principalOf('ann');

let isShort = false;
const lists = createCallerLists({
  sharedViews: createSharedViews(redis),
  records: createRecords(redis),
  room: {
    forGrowth: (what) => (isShort ? Promise.reject(noRoomFor(what, 'disk')) : Promise.resolve()),
  },
});

beforeEach(async () => {
  isShort = false;
  await redis.flushAll();
});

test('without room for more, entries are taken out of the lists of a caller, and none comes in or takes the place of another', async () => {
  await lists.blockOwner('ann', 'bob');
  await lists.acceptOwner('ann', 'eve');
  await lists.acceptDocument(ann, 'one');
  const before = await lists.read('ann');
  isShort = true;
  for (const add of [
    () => lists.blockOwner('ann', 'carl'),
    () => lists.acceptOwner('ann', 'carl'),
    () => lists.acceptOwner('ann', 'bob'),
    () => lists.acceptDocument(ann, 'another'),
  ])
    expect(await rejection(add())).toMatchObject({
      kind: 'try_later',
      message: 'There is no room for more entries in your lists: the disk is nearly full',
    });
  // Entries that are there already need none.
  await lists.blockOwner('ann', 'bob');
  await lists.acceptDocument(ann, 'one');
  expect(await lists.read('ann')).toEqual(before);
  await lists.unblockOwner('ann', 'bob');
  await lists.forgetOwner('ann', 'eve');
  await lists.forgetDocument('ann', 'one');
  expect(await lists.read('ann')).toMatchObject({
    blockedOwners: [],
    acceptedOwners: [],
    acceptedDocuments: [],
  });
});
