import { packTerms } from '../../src/index/scoring/packed-terms.js';

export const DIMENSIONS = 1_024;
/** The most chunks a document may have, and as many with vectors, texts and terms as large as they come. */
export const MANY_CHUNKS = { count: 20_000, dimensions: 4, repeats: 1, words: 3, listed: 1 };
export const LARGE_CHUNKS = { count: 320, dimensions: DIMENSIONS, repeats: 60, words: 300, listed: 1_000 };
export type Shape = typeof MANY_CHUNKS;

/** Two chunks of words from so large a vocabulary are hardly ever the same. */
const VOCABULARY = 200_000;

let state = 1;
export const below = (limit: number) => (state = (state * 48_271) % 2_147_483_647) % limit;

export const someVector = ({ dimensions }: Shape) =>
  Float32Array.from({ length: dimensions }, () => below(1_000) / 1_000 - 0.5);
export const someTerms = ({ words: length }: Shape) =>
  packTerms({ length, counts: new Map(Array.from({ length }, () => [below(VOCABULARY), 1])) });
export const sentence = 'A chunk of some five hundred tokens. ';
export const text = sentence.repeat(60);
export const longList = (name: string, length = 1_000) =>
  Array.from({ length }, (_, n) => `${name}-${String(n)}-`.padEnd(256, 'x'));
/** A script that appends ten of the same, so that they come to Redis but once. */
export const PUSH_TEN = "for _ = 1, 10 do redis.call('RPUSH', KEYS[1], ARGV[1]) end";
/** 16 KiB of JSON in 128 leaves. */
export const longMetadata = () =>
  Object.fromEntries(Array.from({ length: 128 }, (_, n) => [`key-${String(n)}`, 'v'.repeat(112)]));
