import { describe, expect, test } from '@jest/globals';
import { remove } from '../../../src/shared/documents/transitions.js';
import { readerTag } from '../../../src/shared/access/access.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { LATER, useAccessGroupWorld, users } from '../../support/access-group-world.js';
import { makeDocument } from '../../support/documents.js';
import { rejection } from '../../support/rejection.js';

const world = useAccessGroupWorld();
const { redis, records, groups } = world;

describe('access groups of one owner', () => {
  async function createShared(readers: readonly string[], ownerId = 'owner') {
    const document = makeDocument({ ownerId, readers: [ownerId, ...readers] });
    await records.create(document);
    return document;
  }

  const listed = (of: string, n: number) => ['victim', ...users(17, `${of}-${String(n)}`)];

  test('cannot make another caller’s queries large: whose owner named them in 256 is refused, and nobody else', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 256; n += 1) ids.push((await createShared(listed('x', n), 'hostile')).id);
    for (let n = 0; n < 10; n += 1) {
      const error = await rejection(createShared(listed('more', n), 'hostile'));
      expect(error).toMatchObject({ kind: 'invalid_field', field: 'access_control' });
    }
    // Refused groups left nothing with anybody.
    expect(await world.membersOf('more-3-5')).toEqual([]);
    const { id: fair } = await createShared(listed('fair', 0), 'friend');
    ids.push(fair, (await createShared(listed('x', 5), 'hostile')).id);
    const asked = await world.tagsOf('victim');
    expect(asked.tags).toHaveLength(1 + 256 + 1);
    expect(asked.areExact).toBe(true);
    for (const id of ids) expect(await world.reaches('victim', id)).toBe(true);
    const { id: closed } = await createShared(users(30, 'someone'), 'hostile');
    expect(await world.reaches('victim', closed)).toBe(false);
    // The owner is named in all of them.
    expect(await world.reaches('hostile', closed)).toBe(true);
    expect((await world.tagsOf('hostile')).tags).toHaveLength(1);

    for (const id of [...ids, closed]) await records.update(id, remove);
    while ((await groups.collect(LATER)) > 0);
    expect(await redis.keys('quire:*audience*')).toEqual([]);
  });

  test('that no record refers to any more makes room at once for another of its owner', async () => {
    const { id } = await createShared(listed('x', 0));
    for (let n = 1; n < 400; n += 1) await (await world.share(id, listed('x', n)))();
    expect(await world.reaches('victim', id)).toBe(true);
    expect(await world.reaches('x-399-16', id)).toBe(true);
    expect((await world.membersOf('victim')).length).toBeLessThanOrEqual(256);
  });

  test('of earlier versions is told to all whom a mark made ask for more than names them', async () => {
    const first = await createShared(listed('x', 0), 'hostile');
    const { id: other } = await createShared(users(30, 'someone'), 'hostile');
    const set = keys.accessGroupsOf(readerTag('victim'));
    const [member = ''] = await world.membersOf('victim');
    const [owner = ''] = member.split(':');
    // The remains of an access group beyond the limit by the version before.
    await redis.zRem(set, member);
    await redis.zAdd(set, [
      { score: 0, value: `${owner}:*` },
      { score: 0, value: '*' },
    ]);
    for (const whose of [owner, '*']) {
      await redis.sAdd(keys.accessGroupOverflow(whose), readerTag('victim'));
      await redis.sAdd(keys.accessGroupOverflows, whose);
    }
    expect((await world.tagsOf('victim')).areExact).toBe(false);
    expect(await world.reaches('victim', first.id)).toBe(true);
    await groups.collect(0);
    expect(await world.membersOf('victim')).toEqual([member]);
    expect((await world.tagsOf('victim')).areExact).toBe(true);
    expect(await world.reaches('victim', first.id)).toBe(true);
    expect(await world.reaches('victim', other)).toBe(false);
    expect(await redis.keys('quire:audience-overflow*')).toEqual([]);
  });
});
