import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  createKnownLists,
  createSharedViews,
  createGuard,
  guardArgument,
  guardKey,
  SharingChangedError,
  NO_LISTS,
  SHARED,
  sharingRule,
  type View,
  type SharingLists,
} from '../../../src/shared/access/sharing.js';
import { matchesFilter } from '../../../src/shared/filters/match.js';
import type { Filter } from '../../../src/shared/filters/parse.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { matchable } from '../../support/matchable.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();
beforeEach(() => redis.flushAll());

const ID = '0b7a4c1e-0000-4000-8000-00000000000a';
const looking = { principal: { id: 'ann' }, filter: null };
const viewOf = (views: ReturnType<typeof createSharedViews>, shared?: 'all' | 'accepted' | 'own') =>
  views.within({ ...looking, shared }, (view: View) => Promise.resolve(view.filter));

test('the setting holds for who says nothing, and a request overrides it', async () => {
  for (const standard of ['all', 'accepted', 'own'] as const) {
    const views = createSharedViews(redis, { standard });
    expect(await viewOf(views)).toEqual(sharingRule('ann', standard, NO_LISTS));
    expect(await viewOf(views, 'all')).toBeNull();
    expect(await views.filterOf(looking)).toEqual(await viewOf(views));
  }
});

test('who has accepted no document is asked about owners alone', () => {
  const lists = { ...NO_LISTS, acceptedOwners: ['eve'] };
  expect(sharingRule('ann', 'accepted', lists)).toEqual({
    type: 'equals',
    path: 'system_metadata.owner',
    values: ['ann', 'eve'],
  });
  expect(SHARED).toEqual(['all', 'accepted', 'own']);
  expect(NO_LISTS).toEqual({ blockedOwners: [], acceptedOwners: [], acceptedDocuments: [] });
});

test('an owner who is blocked is seen nowhere, whatever else is said of them or of their documents', () => {
  const lists = { blockedOwners: ['bob'], acceptedOwners: ['bob', 'eve'], acceptedDocuments: [ID] };
  const sees = (shared: 'all' | 'accepted' | 'own', ownerId: string, id = ID) => {
    const rule = sharingRule('ann', shared, lists);
    return rule === null || matchesFilter(matchable({}, { ownerId, id }), rule);
  };
  const other = matchable({}).id;
  for (const shared of ['all', 'accepted', 'own'] as const) {
    expect(sees(shared, 'bob')).toBe(false);
    expect(sees(shared, 'ann', other)).toBe(true);
    expect(sees(shared, 'eve', other)).toBe(shared !== 'own');
    expect(sees(shared, 'dan')).toBe(shared !== 'own');
    expect(sees(shared, 'dan', other)).toBe(shared === 'all');
  }
});

test('what is remembered of callers is bounded, and nothing is of those without lists', () => {
  const known = createKnownLists(10);
  const sharing = (owners: number, revision = 'r') => ({
    revision,
    lists: { ...NO_LISTS, blockedOwners: Array.from({ length: owners }, (_, i) => String(i)) },
  });
  known.put('nobody', { revision: '', lists: NO_LISTS });
  expect(known.get('nobody')).toBeUndefined();
  known.put('ann', sharing(4));
  known.put('bob', sharing(4));
  known.put('ann', sharing(3, 'later'));
  expect([known.get('ann')?.revision, known.get('bob')?.revision]).toEqual(['later', 'r']);
  known.put('eve', sharing(4));
  expect([known.get('bob'), known.get('ann')?.revision, known.get('eve')?.revision]).toEqual([
    undefined,
    'later',
    'r',
  ]);
  known.put('ann', { revision: '', lists: NO_LISTS });
  expect(known.get('ann')).toBeUndefined();
});

const blocking = (owner: string) => (lists: SharingLists) => ({
  ...lists,
  blockedOwners: [...lists.blockedOwners, owner],
});

test('what is remembered of callers counts each id of all lists, and one more for each caller', () => {
  const entry = (count: number) => ({
    revision: 'r',
    lists: {
      blockedOwners: Array.from({ length: count }, () => 'b'),
      acceptedOwners: Array.from({ length: count }, () => 'a'),
      acceptedDocuments: Array.from({ length: count }, () => 'd'),
    },
  });
  for (const [most, isKept] of [
    [8, true],
    [7, false],
  ] as const) {
    const known = createKnownLists(most);
    known.put('ann', entry(1));
    known.put('bob', entry(1));
    expect(known.get('ann') !== undefined).toBe(isKept);
    expect(known.get('bob')).toBeDefined();
  }
});

describe('the lists of a caller', () => {
  test('are kept as they were changed, of each caller alone, and are gone once they are empty', async () => {
    const views = createSharedViews(redis);
    const lists = { blockedOwners: ['bob'], acceptedOwners: ['eve'], acceptedDocuments: [ID] };
    expect(await views.read('ann')).toEqual(NO_LISTS);
    expect(await views.change('ann', () => lists)).toEqual(lists);
    expect(await createSharedViews(redis).read('ann')).toEqual(lists);
    expect(await views.read('dan')).toEqual(NO_LISTS);
    expect(await views.change('ann', () => ({ ...NO_LISTS, acceptedOwners: ['eve'] }))).toMatchObject({
      blockedOwners: [],
    });
    expect(await redis.exists(keys.sharing('ann'))).toBe(1);
    await views.change('ann', () => ({ ...NO_LISTS }));
    expect(await redis.exists(keys.sharing('ann'))).toBe(0);
    expect(await views.read('ann')).toEqual(NO_LISTS);
  });

  test('are not written where the change gives back those that it got', async () => {
    const views = createSharedViews(redis);
    await views.change('ann', blocking('bob'));
    const before = await redis.hGetAll(keys.sharing('ann'));
    await views.change('ann', (lists) => lists);
    expect(await redis.hGetAll(keys.sharing('ann'))).toEqual(before);
  });

  test('lose no change that another process makes at the same time', async () => {
    const [one, other] = [createSharedViews(redis), createSharedViews(redis)];
    await Promise.all([
      ...['a', 'b', 'c'].map((owner) => one.change('ann', blocking(owner))),
      ...['d', 'e', 'f'].map((owner) => other.change('ann', blocking(owner))),
    ]);
    expect((await one.read('ann')).blockedOwners.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test('that others change again and again make the caller try later', async () => {
    const failing = { hmGet: redis.hmGet.bind(redis), eval: () => Promise.resolve(0) };
    // @NOTE a Redis on which every change comes too late
    const views = createSharedViews(failing);
    await expect(views.change('ann', blocking('bob'))).rejects.toMatchObject({
      kind: 'too_many',
      retryAfterSeconds: 1,
    });
  });
});

describe('a search', () => {
  const blocked = (owner: string) => sharingRule('ann', 'all', { ...NO_LISTS, blockedOwners: [owner] });

  test('is made again where the step that reads its hits finds other lists, and then by those of now', async () => {
    const views = createSharedViews(redis);
    await createSharedViews(redis).change('ann', blocking('bob'));
    const seen: View['filter'][] = [];
    const answer = await views.within(looking, ({ filter, guard }) => {
      seen.push(filter);
      if (seen.length === 1) return Promise.reject(new SharingChangedError());
      guard?.confirm();
      return Promise.resolve('answer');
    });
    expect(answer).toBe('answer');
    expect(seen).toEqual([null, blocked('bob')]);
  });

  test('that read nothing which could tell is made again only where the lists are others', async () => {
    const views = createSharedViews(redis);
    let runs = 0;
    const run = () => Promise.resolve((runs += 1));
    expect(await views.within(looking, run)).toBe(1);
    await createSharedViews(redis).change('ann', blocking('bob'));
    expect(await views.within(looking, run)).toBe(3);
    expect(await views.within(looking, run)).toBe(4);
  });

  test('asks for the lists no second time where its hits were read by those that it was made by', async () => {
    await createSharedViews(redis).change('ann', blocking('bob'));
    let asked = 0;
    const counting = {
      eval: redis.eval.bind(redis),
      hmGet: (...given: Parameters<typeof redis.hmGet>) => {
        asked += 1;
        return redis.hmGet(...given);
      },
    };
    // @NOTE the same client, which counts
    const views = createSharedViews(counting);
    await views.read('ann');
    const revision = await redis.hGet(keys.sharing('ann'), 'revision');
    const view = await views.within(looking, (each) => {
      each.guard?.confirm();
      return Promise.resolve(each);
    });
    expect(asked).toBe(1);
    expect(view).toMatchObject({ filter: blocked('bob'), guard: { key: keys.sharing('ann'), revision } });
  });

  test('fails with errors of its own', async () => {
    const views = createSharedViews(redis);
    await expect(views.within(looking, () => Promise.reject(new Error('mine')))).rejects.toThrow('mine');
  });

  test('of what the caller owns looks at no list, and heeds the filter that was asked for', async () => {
    const filter: Filter = { type: 'exists', path: 'a' };
    const view = await createSharedViews(redis).within({ ...looking, filter, shared: 'own' }, (each) =>
      Promise.resolve(each),
    );
    expect(view).toEqual({
      filter: { type: 'and', filters: [filter, sharingRule('ann', 'own', NO_LISTS)] },
      guard: null,
    });
  });
});

test('a list of documents and a look at one heed the lists of now, and what the caller may read', async () => {
  const views = createSharedViews(redis);
  await createSharedViews(redis).change('ann', blocking('bob'));
  const filter: Filter = { type: 'exists', path: 'a' };
  const rule = sharingRule('ann', 'all', { ...NO_LISTS, blockedOwners: ['bob'] });
  expect(await views.filterOf({ ...looking, filter })).toEqual({ type: 'and', filters: [filter, rule] });
  const sees = await views.predicateOf({ principal: { id: 'ann' } });
  const lists = { readers: ['ann'], writers: [], admins: [] };
  expect(sees(matchable({}, { ownerId: 'eve', ...lists }))).toBe(true);
  expect(sees(matchable({}, { ownerId: 'bob', ...lists }))).toBe(false);
  expect(sees(matchable({}, { ownerId: 'eve', ...lists, readers: ['dan'] }))).toBe(false);
  const own = await views.predicateOf({ principal: { id: 'ann' }, shared: 'own' });
  expect(own(matchable({}, { ownerId: 'eve', ...lists }))).toBe(false);
});

test('what the caller owns is found without a look at any list, and by no list of an earlier state', async () => {
  let asked = 0;
  const counting = {
    eval: redis.eval.bind(redis),
    hmGet: (...given: Parameters<typeof redis.hmGet>) => {
      asked += 1;
      return redis.hmGet(...given);
    },
  };
  const views = createSharedViews(counting);
  await views.filterOf({ ...looking, shared: 'own' });
  expect(asked).toBe(0);
  await redis.hSet(keys.sharing('ann'), 'revision', 'half of a state');
  expect(await views.read('ann')).toEqual(NO_LISTS);
});

test('a change of lists is tried twenty times', async () => {
  let tries = 0;
  const failing = {
    hmGet: redis.hmGet.bind(redis),
    eval: () => {
      tries += 1;
      return Promise.resolve(0);
    },
  };
  await expect(createSharedViews(failing).change('ann', blocking('bob'))).rejects.toThrow();
  expect(tries).toBe(20);
});

test('a guard knows only that it was confirmed, and is no guard where there is none', () => {
  const guard = createGuard('ann', '7');
  expect(guard.isConfirmed).toBe(false);
  guard.confirm();
  expect(guard.isConfirmed).toBe(true);
  expect([guardKey(guard), guardArgument(guard)]).toEqual([keys.sharing('ann'), '=7']);
  expect(guardArgument(createGuard('ann', ''))).toBe('=');
  expect(guardArgument(null)).toBe('');
  expect(guardKey(null)).not.toBe(keys.sharing('ann'));
});
