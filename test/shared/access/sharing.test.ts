import { beforeEach, expect, test } from '@jest/globals';
import { createKnownLists } from '../../../src/shared/access/known-lists.js';
import { NO_LISTS, sharingRule } from '../../../src/shared/access/sharing-rule.js';
import { createSharedViews, type View } from '../../../src/shared/access/sharing.js';
import { matchesFilter } from '../../../src/shared/filters/match.js';
import { matchable } from '../../support/matchable.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();
beforeEach(() => redis.flushAll());

const ID = '0b7a4c1e-0000-4000-8000-00000000000a';
const looking = { callerId: 'ann', filter: null };
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
