import fc from 'fast-check';
import { keys } from '../../src/shared/redis/keys.js';
import { anyCharacter } from './any-character.js';

/** Texts that separate or escape somewhere, whole and in halves; few of them, so that random parts meet often. */
const fragment = fc.constantFrom(
  ':',
  '%',
  '%3A',
  '%25',
  '%253A',
  '3A',
  '25',
  '%u',
  '%uD83D',
  'uD83D',
  'D800',
  '|',
  '.',
  '/',
  '\n',
  '\0',
  '\ud800',
  '\ud801',
  '\udc00',
  '\ud83d\ude00',
  '\ufffd',
  '*',
  'a',
  'b',
  'acme',
  'bob',
  'deals',
  '0',
  '1',
  'document',
  'chunk',
  'cache',
  'caches',
  'usage',
  'pending',
  'records',
  'metrics',
  'batch',
  'quire:',
);

/** Whatever a client could call itself or its things. */
export const clientString = fc.oneof(
  fc.array(fragment, { maxLength: 6 }).map((parts) => parts.join('')),
  fc.string({ unit: anyCharacter, maxLength: 8 }),
);

/** A key by its name in `keys` and the arguments it was made from. */
export interface NamedKey {
  readonly name: string;
  readonly parts: readonly (string | number)[];
  readonly key: string;
}

/** Keys of BullMQ, in its own layout: made of names of lanes and ids of jobs, which are ours. */
const BULLMQ = ['job', 'prioritizedJobs'];
export const namedKeys = Object.entries(keys).filter(([name]) => !BULLMQ.includes(name));

const made = (name: string, parts: readonly (string | number)[], key: string): NamedKey => ({
  name,
  parts,
  key,
});

/** Any key of the service; one that `keys` gets later and this does not know fails its test. */
export const anyKey: fc.Arbitrary<NamedKey> = fc.oneof(
  ...namedKeys.map(([name, key]): fc.Arbitrary<NamedKey> => {
    if (typeof key === 'string') return fc.constant(made(name, [], key));
    return fc.tuple(clientString, clientString, fc.nat(30)).map(([one, other, number]) => {
      if (key === keys.pagePicture)
        return made(name, [one, number, other], keys.pagePicture(one, number, other));
      if (key === keys.chunk) return made(name, [one, number], keys.chunk(one, number));
      if (key === keys.cache || key === keys.guesses || key === keys.idempotency)
        return made(name, [one, other], key(one, other));
      // @NOTE all others are made from one string; the test holds that against their number of parameters.
      return made(name, [one], (key as (only: string) => string)(one));
    });
  }),
);
