import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { callerTags } from '../../src/shared/audience.js';
import { createAudiences, type Audiences } from '../../src/shared/audiences.js';
import { accessToken } from '../../src/shared/filter-tokens.js';
import { keys } from '../../src/shared/keys.js';
import { createRecords, type Records } from '../../src/shared/records.js';
import { createRedis, type Redis } from '../../src/shared/redis.js';
import { finishRetag, patch, remove } from '../../src/shared/transitions.js';
import { makeDocument } from '../support/documents.js';
import { rejection } from '../support/rejection.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

let server: TestRedis;
let redis: Redis;
let records: Records;
let audiences: Audiences;

beforeAll(async () => {
  server = await startTestRedis();
  redis = createRedis(server.url, { failFast: true, onError: () => undefined });
  await redis.connect();
  records = createRecords(redis);
  audiences = createAudiences(redis);
});
beforeEach(async () => {
  await redis.flushAll();
});
afterAll(async () => {
  redis.destroy();
  await server.stop();
});

/** Later than any grace. */
const LATER = Number.MAX_SAFE_INTEGER;
const users = (count: number, name = 'user') =>
  Array.from({ length: count }, (_, i) => `${name}-${String(i)}`);
const membersOf = (callerId: string) => redis.zRange(keys.audiencesOf(accessToken(callerId)), 0, -1);
const tagsOf = async (callerId: string) => callerTags(callerId, await membersOf(callerId));

/** Whether a caller's query reaches a document by the tags that its record carries. */
async function reaches(callerId: string, documentId: string): Promise<boolean> {
  const tags = new Set((await redis.hGet(keys.document(documentId), 'tags'))?.split(','));
  return (await tagsOf(callerId)).tags.some((tag) => tags.has(tag));
}

/** Changes the readers; until `finish` is called, chunks may have the tags of before. */
async function share(id: string, readers: readonly string[]) {
  const { record } = await records.update(id, (each) => patch(each, { readers: [...readers] }));
  return () => records.update(id, (each) => finishRetag(each, record?.retag ?? 0));
}

describe('audiences of one owner', () => {
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
      expect(error).toMatchObject({ status: 422, detail: [{ loc: ['body', 'access_control'] }] });
    }
    // What was refused left nothing with anybody.
    expect(await membersOf('more-3-5')).toEqual([]);
    const { id: fair } = await createShared(listed('fair', 0), 'friend');
    ids.push(fair, (await createShared(listed('x', 5), 'hostile')).id);
    const asked = await tagsOf('victim');
    expect(asked.tags).toHaveLength(1 + 256 + 1);
    expect(asked.areExact).toBe(true);
    for (const id of ids) expect(await reaches('victim', id)).toBe(true);
    const { id: closed } = await createShared(users(30, 'someone'), 'hostile');
    expect(await reaches('victim', closed)).toBe(false);
    // The owner is named in all of them.
    expect(await reaches('hostile', closed)).toBe(true);
    expect((await tagsOf('hostile')).tags).toHaveLength(1);

    for (const id of [...ids, closed]) await records.update(id, remove);
    while ((await audiences.collect(LATER)) > 0);
    expect(await redis.keys('quire:*audience*')).toEqual([]);
  }, 60_000);

  test('that no record refers to any more makes room at once for another of its owner', async () => {
    const { id } = await createShared(listed('x', 0));
    for (let n = 1; n < 400; n += 1) await (await share(id, listed('x', n)))();
    expect(await reaches('victim', id)).toBe(true);
    expect(await reaches('x-399-16', id)).toBe(true);
    expect((await membersOf('victim')).length).toBeLessThanOrEqual(256);
  }, 60_000);

  test('of earlier versions is told to all whom a mark made ask for more than names them', async () => {
    const first = await createShared(listed('x', 0), 'hostile');
    const { id: other } = await createShared(users(30, 'someone'), 'hostile');
    const set = keys.audiencesOf(accessToken('victim'));
    const [member = ''] = await membersOf('victim');
    const [owner = ''] = member.split(':');
    // What the version before left of an audience beyond the limit.
    await redis.zRem(set, member);
    await redis.zAdd(set, [
      { score: 0, value: `${owner}:*` },
      { score: 0, value: '*' },
    ]);
    for (const whose of [owner, '*']) {
      await redis.sAdd(keys.audienceOverflow(whose), accessToken('victim'));
      await redis.sAdd(keys.audienceOverflows, whose);
    }
    expect((await tagsOf('victim')).areExact).toBe(false);
    expect(await reaches('victim', first.id)).toBe(true);
    await audiences.collect(0);
    expect(await membersOf('victim')).toEqual([member]);
    expect((await tagsOf('victim')).areExact).toBe(true);
    expect(await reaches('victim', first.id)).toBe(true);
    expect(await reaches('victim', other)).toBe(false);
    expect(await redis.keys('quire:audience-overflow*')).toEqual([]);
  });
});
