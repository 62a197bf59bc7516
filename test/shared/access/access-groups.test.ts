import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createWithCallerTags } from '../../../src/shared/access/with-caller-tags.js';
import { documentTags } from '../../../src/shared/documents/record-fields.js';
import { finishRetag, patch, remove } from '../../../src/shared/documents/transitions.js';
import { readerTag } from '../../../src/shared/access/access.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { LATER, useAccessGroupWorld, users } from '../../support/access-group-world.js';
import { makeDocument } from '../../support/documents.js';
import { slowCommands } from '../../support/slow-commands.js';

const world = useAccessGroupWorld();
const { redis, records, groups } = world;

describe('an access group of many readers', () => {
  test('is named in the tags, not listed: 3,000 ids take less than a hundred bytes', () => {
    const few = documentTags(makeDocument({ readers: users(15) }));
    const many = documentTags(
      makeDocument({ readers: users(1_000, 'r'), writers: users(1_000, 'w'), admins: users(1_000, 'a') }),
    );
    const none = documentTags(makeDocument({ readers: [] }));
    expect(few.length - none.length).toBe(15 * 25);
    expect(many.length - none.length).toBeLessThan(100);
  });

  test('is told to its callers before the change that needs it, and stays while a record refers to it', async () => {
    const { id } = await createShared(users(20));
    expect(await world.reaches('user-19', id)).toBe(true);
    expect(await world.reaches('user-20', id)).toBe(false);
    await groups.collect(LATER);
    expect(await world.reaches('user-19', id)).toBe(true);

    const before = await world.membersOf('user-3');
    const finish = await world.share(id, users(21));
    expect(await world.reaches('user-20', id)).toBe(true);
    // Chunks may still have the tags of before: who could read them then and may now must still ask for those.
    await groups.collect(LATER);
    expect(await world.membersOf('user-3')).toEqual(expect.arrayContaining(before));
    await finish();
    await groups.collect(LATER);
    expect(await world.membersOf('user-3')).toHaveLength(1);
    expect(await world.membersOf('user-3')).not.toEqual(before);

    await records.update(id, remove);
    expect(await world.membersOf('user-3')).toHaveLength(1);
    await groups.collect(LATER);
    expect(await world.membersOf('user-3')).toEqual([]);
    expect(await redis.keys('quire:*audience*')).toEqual([]);
  });

  test('is refused while a record refers to more than 32 of before, until its chunks have their tags', async () => {
    const { id } = await createShared(users(20));
    let finish = () => Promise.resolve<unknown>(null);
    for (let n = 1; n < 32; n += 1) finish = await world.share(id, users(20 + n));
    await expect(world.share(id, users(60))).rejects.toMatchObject({
      kind: 'too_many',
      retryAfterSeconds: 2,
    });
    // One that is referred to already, or none, is no more.
    await world.share(id, users(25));
    finish = await world.share(id, users(3));
    await finish();
    await world.share(id, users(60));
    expect(await world.reaches('user-59', id)).toBe(true);
  });

  test('leaves its callers only after its grace', async () => {
    const { id } = await createShared(users(20));
    const started = Date.now();
    await records.update(id, remove);
    expect(await groups.collect(started - 1)).toBe(0);
    expect(await world.membersOf('user-3')).toHaveLength(1);
    expect(await groups.collect(Date.now())).toBe(1);
  });

  test('stays while one record refers to it, though it was noted that none does', async () => {
    const { id } = await createShared(users(20));
    const [group] = (await redis.hGet(keys.document(id), 'audiences'))?.split(',') ?? [];
    await redis.zAdd(keys.unreferencedAccessGroups, { score: 1, value: String(group) });
    expect(await groups.collect(LATER)).toBe(0);
    expect(await world.reaches('user-3', id)).toBe(true);
    expect(await redis.zCard(keys.unreferencedAccessGroups)).toBe(0);
  });

  test('is one of those that its owner has, and of those that there are, until it goes', async () => {
    const { id } = await createShared(users(20));
    await createShared(users(21));
    await createShared(users(22), 'other');
    const counts = async () => Object.values(await redis.hGetAll(keys.accessGroupOwners)).toSorted();
    expect(await counts()).toEqual(['1', '2', '3']);
    await records.update(id, remove);
    await groups.collect(LATER);
    expect(await counts()).toEqual(['1', '1', '2']);
  });

  test('that was registered by a process that died before its change goes, and comes back with the next', async () => {
    const { id } = await createShared(users(20));
    await groups.register({
      id: 'a'.repeat(24),
      owner: 'b'.repeat(24),
      ownCaller: null,
      callers: [readerTag('user-1')],
    });
    expect(await world.membersOf('user-1')).toHaveLength(2);
    await groups.collect(LATER);
    expect(await world.membersOf('user-1')).toHaveLength(1);
    await records.update(id, remove);
    await groups.collect(LATER);
    const { id: again } = await createShared(users(20));
    expect(await world.reaches('user-1', again)).toBe(true);
  });

  test('of thousands is whole for each record that refers to it, though it is registered and removed at the same time', async () => {
    const readers = users(2_900);
    for (let round = 0; round < 10; round += 1) {
      const collecting = (async () => {
        for (let i = 0; i < 3; i += 1) await groups.collect(LATER);
      })();
      const [{ id }] = await Promise.all([createShared(readers), createShared(readers), collecting]);
      for (const caller of ['user-0', 'user-499', 'user-1500', 'user-2899'])
        expect(await world.reaches(caller, id)).toBe(true);
      for (const key of await redis.keys(`${keys.documentPrefix}*`))
        await records.update(key.slice(keys.documentPrefix.length), remove);
    }
    await groups.collect(LATER);
    expect(await redis.keys('quire:*audience*')).toEqual([]);
  });

  test('is stored once for all documents that have it, however its callers are spread over the lists', async () => {
    await createShared(users(100));
    const before = await redis.dbSize();
    const { id } = await createShared(users(100));
    await records.update(id, (each) =>
      patch(each, { readers: users(50), writers: ['owner', ...users(100)] }),
    );
    expect(await redis.dbSize()).toBe(before + 1);
  });

  test('leads each caller to what they may read and to nothing else, whatever is changed and collected', async () => {
    const readers = fc
      .integer({ min: 12, max: 20 })
      .chain((size) => fc.shuffledSubarray(users(22), { minLength: size, maxLength: size }));
    const step = fc.record({
      type: fc.constantFrom('create', 'create', 'share', 'share', 'finish', 'remove', 'collect'),
      target: fc.nat(20),
      readers,
      owner: fc.constantFrom('owner', 'other'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        await redis.flushAll();
        const readable = new Map<string, Set<string>>();
        const unfinished = new Map<string, (() => Promise<unknown>)[]>();
        for (const { type, target, readers: named, owner } of steps) {
          const id = [...readable.keys()][target % Math.max(1, readable.size)];
          if (type === 'collect') await groups.collect(LATER);
          else if (type === 'create' || id === undefined) {
            const document = makeDocument({ ownerId: owner, readers: named, writers: [], admins: [] });
            await records.create(document);
            readable.set(document.id, new Set(named));
          } else if (type === 'share') {
            unfinished.set(id, [...(unfinished.get(id) ?? []), await world.share(id, named)]);
            readable.set(id, new Set(named));
          } else if (type === 'finish') for (const finish of unfinished.get(id) ?? []) await finish();
          else {
            await records.update(id, remove);
            readable.delete(id);
          }
          for (const [documentId, callers] of readable)
            for (const caller of ['user-0', 'user-7', 'user-21'])
              expect(await world.reaches(caller, documentId)).toBe(callers.has(caller));
        }
        for (const documentId of readable.keys()) await records.update(documentId, remove);
        await groups.collect(LATER);
        expect(await redis.keys('quire:*audience*')).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  async function createShared(readers: readonly string[], ownerId = 'owner') {
    const document = makeDocument({ ownerId, readers: [ownerId, ...readers] });
    await records.create(document);
    return document;
  }

  test('holds up Redis for less than 50 ms, at 3,000 ids of 256 characters', async () => {
    const slow = await slowCommands({ redis }, 50, async () => {
      await redis.flushAll();
      const named = (list: string) => users(1_000, list.padEnd(250, 'x'));
      const { id } = await createShared([]);
      await records.update(id, (each) =>
        patch(each, { readers: named('r'), writers: named('w'), admins: named('a') }),
      );
      const { record } = await records.update(id, (each) => patch(each, { readers: named('other') }));
      await records.update(id, (each) => finishRetag(each, record?.retag ?? 0));
      await records.update(id, remove);
      expect(await groups.collect(LATER)).toBe(2);
    });
    expect(slow).toEqual([]);
  });

  test('that comes while a question is being asked has it asked again', async () => {
    const withCallerTags = createWithCallerTags(redis);
    const asked: number[] = [];
    await withCallerTags({ id: 'alice' }, async ({ tags }) => {
      asked.push(tags.length);
      if (asked.length === 1) await createShared(['alice', ...users(30)]);
    });
    expect(asked).toEqual([1, 2]);
    await withCallerTags({ id: 'alice' }, ({ tags }) => Promise.resolve(asked.push(tags.length)));
    expect(asked).toEqual([1, 2, 2]);
  });
});
