import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fromMember, keys, toMember } from '../../../src/shared/redis/keys.js';
import { anyKey, clientString, namedKeys, type NamedKey } from '../../support/key-arbitraries.js';

/** The bytes that Redis gets to see: strings leave as UTF-8, where halves of surrogate pairs are all the same. */
const sent = (text: string) => Buffer.from(text).toString('hex');

const isPrefix = ({ name }: NamedKey) => name === 'documentPrefix' || name === 'chunkPrefix';

describe('keys made from what clients send', () => {
  test('two keys meet only when they are of one kind and made from the same', () => {
    fc.assert(
      fc.property(anyKey, anyKey, (one, other) => {
        fc.pre(!isPrefix(one) && !isPrefix(other));
        const isSame =
          one.name === other.name && one.parts.every((part, i) => Object.is(part, other.parts[i]));
        expect(sent(one.key) === sent(other.key)).toBe(isSame);
      }),
      { numRuns: 20_000 },
    );
  });

  test('of a kind, other parts make another key, however they are cut', () => {
    fc.assert(
      fc.property(clientString, clientString, clientString, (a, b, c) => {
        const [one, other] = [keys.cache(`${a}:${b}`, c), keys.cache(a, `${b}:${c}`)];
        expect(sent(one)).not.toBe(sent(other));
        if (a !== b) {
          expect(sent(keys.statistics(a))).not.toBe(sent(keys.statistics(b)));
          expect(sent(toMember(a))).not.toBe(sent(toMember(b)));
        }
      }),
      { numRuns: 20_000 },
    );
  });

  test('only documents and chunks lie under the prefixes that an engine indexes', () => {
    fc.assert(
      fc.property(anyKey, ({ name, key }) => {
        expect(key.startsWith(keys.documentPrefix)).toBe(name === 'document' || name === 'documentPrefix');
        expect(key.startsWith(keys.chunkPrefix)).toBe(name === 'chunk' || name === 'chunkPrefix');
      }),
      { numRuns: 5_000 },
    );
  });

  test('ordinary ids stay as they are and can be read', () => {
    for (const id of ['ann', 'ann@example.com', 'auth0|5f7c', 'Ünï çødé', '日本', 'urn:user:1', '100%', '']) {
      expect(keys.statistics(id)).toBe(`quire:statistics:${id}`);
      expect(toMember(id)).toBe(id);
    }
    expect(keys.cache('acme', 'bob.deals')).toBe('quire:cache:acme:bob.deals');
    expect(keys.cache('acme:bob', 'deals')).toBe('quire:cache:acme%3Abob:deals');
    const generation = '7b1d1e6e-4f5f-4f0e-8a52-0c7d6b3f1a11.2.1';
    expect(keys.chunk(generation, 17)).toBe(`quire:chunk:${generation}:17`);
  });

  test('a member of a set says whose it is, whatever the id is made of', () => {
    fc.assert(
      fc.property(clientString, (id) => {
        expect(fromMember(Buffer.from(toMember(id)).toString())).toBe(id);
      }),
      { numRuns: 4_000 },
    );
  });

  test('the test knows how every key is made', () => {
    for (const [name, key] of namedKeys) {
      if (typeof key === 'function') {
        const two = ['chunk', 'cache', 'guesses', 'idempotency'];
        const parts = name === 'pagePicture' ? 3 : two.includes(name) ? 2 : 1;
        expect([name, key.length]).toEqual([name, parts]);
      }
    }
  });
});
