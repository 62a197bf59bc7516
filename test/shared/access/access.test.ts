import { hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import {
  accessOfAttachments,
  canRead,
  hasRight,
  mayRead,
  readersOf,
  accessGroupOf,
  accessTags,
  callerTags,
  accessGroupTag,
  everyAccessGroupTag,
  ownerTag,
  readerTag,
} from '../../../src/shared/access/access.js';
import { makeDocument } from '../../support/documents.js';

const users = (count: number, prefix = 'user') =>
  Array.from({ length: count }, (_, n) => `${prefix}-${String(n)}`);

describe('a caller', () => {
  const document = makeDocument({ readers: ['reader'], writers: ['writer'], admins: ['admin'] });

  test.each([
    ['reader', true, false, false],
    ['writer', true, true, false],
    ['admin', true, true, true],
    ['nobody', false, false, false],
    ['read', false, false, false],
  ])('who is %s may read: %s, write: %s, change access: %s', (caller, reads, writes, changes) => {
    const principal = { id: caller };
    expect(canRead(principal, document)).toBe(reads);
    expect(mayRead(principal, document)).toBe(reads);
    expect(readersOf(document).has(caller)).toBe(reads);
    expect(hasRight(principal, document, 'read')).toBe(reads);
    expect(hasRight(principal, document, 'write')).toBe(writes);
    expect(hasRight(principal, document, 'change access')).toBe(changes);
  });
});

describe('the access of documents of attachments', () => {
  const record = makeDocument({ readers: ['a', 'b'], writers: ['b', 'c'], admins: ['c', 'd'] });

  test('is that of the document around them, and who has left that has left them', () => {
    const { readers, writers, admins } = record;
    expect(accessOfAttachments(record)).toEqual({ readers, writers, admins });
    const left = [{ id: 'x', lists: ['readers' as const] }];
    expect(accessOfAttachments({ ...record, left })).toEqual({ readers, writers, admins, left });
  });

  test('is that of before and after at once while a change of it is under way', () => {
    const accessChange = { id: 'change', readers: ['b', 'e'], writers: ['c'], admins: ['d', 'e'] };
    const left = [{ id: 'x', lists: [] }];
    expect(accessOfAttachments({ ...record, accessChange, left })).toEqual({
      readers: ['b'],
      writers: ['c'],
      admins: ['d'],
      left,
    });
  });
});

describe('the access tags of a document', () => {
  const shared = (changes: Parameters<typeof makeDocument>[0]) =>
    makeDocument({ readers: [], writers: [], admins: [], ...changes });

  test('name up to sixteen callers one by one, once each, from whichever list', () => {
    const few = shared({ readers: users(16) });
    expect(accessGroupOf(few)).toBeNull();
    expect(accessTags(few)).toEqual(users(16).map(readerTag));
    expect(accessGroupOf(shared({ readers: users(15), writers: users(16) }))).toBeNull();
    expect(accessGroupOf(shared({ readers: users(17) }))).not.toBeNull();
    const twice = shared({ readers: users(9), writers: users(9), admins: users(9) });
    expect(accessGroupOf(twice)).toBeNull();
    expect(accessTags(twice)).toEqual(users(9).map(readerTag));
    const spread = shared({ readers: ['a'], writers: ['b'], admins: ['c'] });
    expect(accessTags(spread)).toEqual(['a', 'b', 'c'].map(readerTag));
  });

  test('name a group of more callers, and its owner beside it only where the owner may read', () => {
    const group = accessGroupOf(shared({ readers: users(16), admins: ['owner'] }));
    expect(group).toMatchObject({ owner: ownerTag('owner'), ownCaller: readerTag('owner') });
    expect(group?.callers).toEqual([...users(16), 'owner'].map(readerTag).sort());
    const ids = { readers: users(6, 'r'), writers: users(6, 'w'), admins: users(6, 'a') };
    const withoutOwner = shared(ids);
    expect(accessGroupOf(withoutOwner)).toMatchObject({ ownCaller: null });
    const { id = '' } = accessGroupOf(withoutOwner) ?? {};
    expect(accessTags(withoutOwner)).toEqual([id, ownerTag('owner'), everyAccessGroupTag]);
    expect(accessTags(shared({ ...ids, admins: [...ids.admins, 'owner'] }))).toContain(readerTag('owner'));
  });

  test('name one group for the same owner and callers, in whatever order, and another for any others', () => {
    const id = (readers: string[], ownerId = 'owner') => accessGroupOf(shared({ ownerId, readers }))?.id;
    expect(id(users(20).reverse())).toBe(id(users(20)));
    expect(id(users(21))).not.toBe(id(users(20)));
    expect(id(users(20), 'other')).not.toBe(id(users(20)));
  });

  test('are made as the tags of data that is there already were', () => {
    const made = (...parts: string[]) => hash('sha256', JSON.stringify(parts), 'hex').slice(0, 24);
    expect(readerTag('ann')).toBe(made('@', '', 'user', 'ann'));
    expect(ownerTag('ann')).toBe(made('@', '', 'owner', 'ann'));
    expect(everyAccessGroupTag).toBe(made('@', '', 'large', ''));
    expect(accessGroupTag('o', ['a', 'b'])).toBe(made('@', 'o', 'audience', 'ab'));
  });

  test('of users, owners and groups are never the same', () => {
    expect(
      new Set([readerTag('a'), ownerTag('a'), readerTag('b'), ownerTag('b'), everyAccessGroupTag]).size,
    ).toBe(5);
  });
});

describe('the tags that a caller asks for', () => {
  const own = readerTag('ann');

  test('are their own and those of their groups, which only documents have that they may read', () => {
    expect(callerTags({ id: 'ann' }, [])).toEqual({ tags: [own], areExact: true });
    expect(callerTags({ id: 'ann' }, ['bob:g1', 'eve:g2'])).toEqual({
      tags: [own, 'g1', 'g2'],
      areExact: true,
    });
  });

  test('are wider than that while data of earlier versions stands for all groups of an owner, or for all', () => {
    expect(callerTags({ id: 'ann' }, ['bob:*', 'bob:g1', 'eve:g2'])).toEqual({
      tags: [own, 'bob', 'g2'],
      areExact: false,
    });
    expect(callerTags({ id: 'ann' }, ['*', 'bob:g1'])).toEqual({
      tags: [own, everyAccessGroupTag],
      areExact: false,
    });
  });
});
