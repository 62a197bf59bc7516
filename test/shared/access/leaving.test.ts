import { expect, test } from '@jest/globals';
import { leftWith, withoutLeft } from '../../../src/shared/access/leaving.js';

/** Ids of the greatest length that differ only at their ends, which takes longest to compare. */
const idsOf = (kind: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${kind}${String(n)}`.padStart(256, 'x'));
const leftOf = (kind: string) => idsOf(kind, 3_000).map((id) => ({ id, lists: [] }));

test('thousands who have left do not hold up the requests of others', () => {
  const wanted = { readers: idsOf('r', 1_000), writers: idsOf('w', 1_000), admins: idsOf('a', 1_000) };
  const start = performance.now();
  expect(withoutLeft({ left: leftOf('l') }, wanted)).toMatchObject(wanted);
  expect(leftWith({ left: leftOf('o') }, { left: leftOf('l') })).toHaveLength(6_000);
  expect(performance.now() - start).toBeLessThan(500);
});

test('what others write into the lists is noted for who has left, and lists that they do not write stay noted', () => {
  const left = [{ id: 'ann', lists: ['writers' as const] }];
  expect(withoutLeft({ left }, { readers: ['ann', 'ben'] })).toEqual({
    readers: ['ben'],
    left: [{ id: 'ann', lists: ['readers', 'writers'] }],
  });
});
