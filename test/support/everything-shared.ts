import type { SharedViews } from '../../src/shared/access/sharing.js';

/** Callers without any lists, who find whatever others share: for tests in which Redis is not asked for lists. */
export const everythingShared: Pick<SharedViews, 'within' | 'filterOf'> = {
  within: ({ filter }, run) => run({ filter, guard: null }),
  filterOf: ({ filter }) => Promise.resolve(filter),
};

/** The collections of tests that name none. */
export const noCollections = { scope: () => Promise.resolve(null) };
