import { describe, expect, test } from '@jest/globals';
import jsonwebtoken from 'jsonwebtoken';
import { entityIdOf, isCallerId, signAccessToken } from '../../../src/shared/access/access-token.js';

describe('the id of an entity', () => {
  test.each([
    ['  Ann Smith ', 'ann_smith'],
    ['a b c', 'a_b_c'],
    ['a.b-c_9', 'a.b-c_9'],
    ['x'.repeat(64), 'x'.repeat(64)],
  ])('of %j is %j', (name, id) => {
    expect(entityIdOf(name)).toBe(id);
  });

  test.each(['', ' ', 'x'.repeat(65), 'ann!', '!ann', 'ä', 'a\nb', 'a/b'])('cannot be made of %j', (name) => {
    expect(entityIdOf(name)).toBeNull();
  });
});

describe('the id of a caller', () => {
  test('has 1 to 256 characters, however many units those take', () => {
    expect(isCallerId('a')).toBe(true);
    expect(isCallerId('x'.repeat(256))).toBe(true);
    expect(isCallerId('\u{1f600}'.repeat(256))).toBe(true);
    expect(isCallerId('')).toBe(false);
    expect(isCallerId('x'.repeat(257))).toBe(false);
    expect(isCallerId(`${'\u{1f600}'.repeat(256)}x`)).toBe(false);
  });

  test('is well-formed Unicode', () => {
    expect(isCallerId('half \ud800')).toBe(false);
  });
});

test('a token says who it is of, what kind that is and what it may, for as many days as were asked for', () => {
  const token = signAccessToken('secret', {
    entityId: 'ann',
    type: 'user',
    permissions: ['read', 'write'],
    days: 2,
  });
  const claims = jsonwebtoken.verify(token, 'secret', { algorithms: ['HS256'] });
  expect(claims).toMatchObject({ entity_id: 'ann', type: 'user', permissions: ['read', 'write'] });
  if (typeof claims === 'string') throw new Error('no claims');
  expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(2 * 24 * 60 * 60);
  expect(() => jsonwebtoken.verify(token, 'another')).toThrow();
});
