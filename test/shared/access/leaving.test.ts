import { describe, expect, test } from '@jest/globals';
import type { DocumentRecord } from '../../../src/shared/document.js';
import { ConflictError } from '../../../src/shared/errors.js';
import {
  hasLeft,
  leftWith,
  withCaller,
  withoutCaller,
  withoutLeft,
  withoutUnnoted,
} from '../../../src/shared/access/leaving.js';
import { makeDocument } from '../../support/documents.js';

/** Ids of the greatest length that differ only at their ends, which takes longest to compare. */
const idsOf = (kind: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${kind}${String(n)}`.padStart(256, 'x'));
const leftOf = (kind: string) => idsOf(kind, 3_000).map((id) => ({ id, lists: [] }));

test('thousands who have left do not hold up the requests of others', () => {
  const wanted = { readers: idsOf('r', 1_000), writers: idsOf('w', 1_000), admins: idsOf('a', 1_000) };
  const start = performance.now();
  const full = { ...makeDocument(), ...wanted, left: leftOf('l') };
  expect(withoutLeft(full, wanted)).toMatchObject(wanted);
  expect(withoutLeft({ ...full, leftUnnoted: true }, wanted)).toMatchObject(wanted);
  expect(leftWith({ left: leftOf('o') }, { left: leftOf('l') }).left).toHaveLength(6_000);
  expect(performance.now() - start).toBeLessThan(1_500);
});

test('what others write into the lists is noted for who has left, and lists that they do not write stay noted', () => {
  const left = [{ id: 'ann', lists: ['writers' as const] }];
  expect(withoutLeft({ ...makeDocument(), left }, { readers: ['ann', 'ben'] })).toEqual({
    readers: ['ben'],
    left: [{ id: 'ann', lists: ['readers', 'writers'] }],
  });
});

test('what is noted for who has left goes with any list that is written without them, and with no other change', () => {
  const document = { ...makeDocument(), left: [{ id: 'ann', lists: ['writers' as const] }] };
  const changed = withoutLeft(document, { readers: ['ben'] });
  expect(changed).toEqual({ readers: ['ben'], left: [{ id: 'ann', lists: [] }] });
  expect(withCaller({ ...document, ...changed }, 'ann')).toMatchObject({ writers: document.writers });
  expect(withoutLeft(document, {})).toEqual({});
});

test('nobody who has left can be named again, however many others are made to leave and to come back', () => {
  const owner = makeDocument({ ownerId: 'mallory' });
  let document: DocumentRecord = { ...owner, readers: ['mallory', 'victim', 'ben'], left: leftOf('account') };
  document = { ...document, ...withoutCaller(document, 'victim') };
  expect(document.readers).toEqual(['mallory', 'ben']);
  expect(document.left).toHaveLength(3_000);
  const naming = () => {
    for (const name of ['readers', 'writers', 'admins'] as const)
      expect(() => withoutLeft(document, { [name]: ['mallory', 'victim'] })).toThrow(ConflictError);
  };
  naming();
  // One of them comes back, which makes a place, and then all.
  document = { ...document, ...withCaller(document, document.left?.[0]?.id ?? '') };
  naming();
  document = { ...document, left: [] };
  naming();
  expect(withoutUnnoted(document, { readers: ['victim', 'ben'] })).toEqual({ readers: ['ben'] });
  // An attachment whose parent names new admins alone keeps its own.
  expect(withoutUnnoted(document, { readers: ['victim'], admins: ['victim'] })).toEqual({ readers: [] });
  expect(leftWith({}, document)).toMatchObject({ leftUnnoted: true });
  // Whom the lists name may stay, or get more: of such lists nothing is taken away.
  expect(withoutLeft(document, { readers: ['mallory'], writers: ['mallory', 'ben'] })).toEqual({});
});

describe('who leaves a document', () => {
  const record = makeDocument({
    readers: ['owner', 'ann'],
    writers: ['owner', 'bob'],
    admins: ['owner', 'ann'],
  });

  test('is taken out of all lists, and noted with those that named them', () => {
    expect(withoutCaller(record, 'ann')).toEqual({
      readers: ['owner'],
      writers: ['owner', 'bob'],
      admins: ['owner'],
      left: [{ id: 'ann', lists: ['readers', 'admins'] }],
    });
  });

  test('is noted once, however often, and beside others', () => {
    const left = [
      { id: 'ann', lists: [] },
      { id: 'eve', lists: ['readers' as const] },
    ];
    expect(withoutCaller({ ...record, left }, 'ann').left).toEqual([
      left[1],
      { id: 'ann', lists: ['readers', 'admins'] },
    ]);
  });

  test('may not be its owner, nor the only admin', () => {
    expect(() => withoutCaller(record, 'owner')).toThrow(ConflictError);
    expect(() => withoutCaller({ ...record, admins: ['ann'] }, 'ann')).toThrow(ConflictError);
    expect(withoutCaller({ ...record, admins: ['bob'] }, 'ann').admins).toEqual(['bob']);
  });

  test('has left until they come back, into the lists that would name them and no others', () => {
    const gone = {
      ...record,
      left: [
        { id: 'dan', lists: ['writers' as const] },
        { id: 'eve', lists: [] },
      ],
    };
    expect(hasLeft('dan', gone)).toBe(true);
    expect(hasLeft('ann', gone)).toBe(false);
    expect(hasLeft('dan', record)).toBe(false);
    expect(withCaller(gone, 'dan')).toEqual({
      readers: record.readers,
      writers: ['owner', 'bob', 'dan'],
      admins: record.admins,
      left: [{ id: 'eve', lists: [] }],
    });
    expect(withCaller(record, 'dan')).toEqual({
      readers: record.readers,
      writers: record.writers,
      admins: record.admins,
      left: [],
    });
  });
});

describe('lists that somebody else writes', () => {
  const left = [{ id: 'ann', lists: ['admins' as const] }];

  test('are as they were written where nobody has left', () => {
    expect(withoutLeft(makeDocument(), { readers: ['ann'] })).toEqual({});
    expect(withoutLeft({ ...makeDocument(), left: [] }, { readers: ['ann'] })).toEqual({});
  });

  test('name nobody who has left, and take away what they would come back to', () => {
    expect(withoutLeft({ ...makeDocument(), left }, { writers: ['ann', 'ben'], admins: ['ben'] })).toEqual({
      writers: ['ben'],
      admins: ['ben'],
      left: [{ id: 'ann', lists: ['writers'] }],
    });
  });

  test('need an admin who has not left, wherever they say who the admins are', () => {
    expect(() => withoutLeft({ ...makeDocument(), left }, { admins: ['ann'] })).toThrow(ConflictError);
    expect(() => withoutLeft({ ...makeDocument(), left }, { admins: ['ann', 'ben'] })).not.toThrow();
    expect(withoutLeft({ ...makeDocument(), left }, { readers: ['ann'] })).toMatchObject({ readers: [] });
  });
});

describe('an attachment', () => {
  const entry = (id: string) => ({ id, lists: ['readers' as const] });

  test('is left by who has left the document around it, whose entries of its own stay', () => {
    expect(leftWith({ left: [entry('a')] }, { left: [entry('a'), entry('b')] }).left).toEqual([
      entry('a'),
      { id: 'b', lists: [] },
    ]);
    expect(leftWith({}, { left: [entry('b')] }).left).toEqual([{ id: 'b', lists: [] }]);
  });

  test('is left by nobody else where nobody has left that', () => {
    expect(leftWith({ left: [entry('a')] }, {}).left).toEqual([entry('a')]);
    expect(leftWith({}, {}).left).toBeUndefined();
    expect(leftWith({ left: null }, { left: [] }).left).toBeNull();
  });
});
