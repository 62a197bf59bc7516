import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { countPieceTokens } from '../../../src/shared/text/byte-pairs.js';
import { NO_RANK, packTokenRanks, rankOf, readTokenRanks } from '../../../src/shared/text/token-ranks.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-ranks-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function ranksOf(tokens: readonly string[]) {
  const file = join(folder, 'some.ranks');
  await writeFile(file, packTokenRanks(tokens.map((token) => Buffer.from(token))));
  return readTokenRanks(pathToFileURL(file));
}

test('finds each token by its bytes wherever they are, and nothing else', async () => {
  const tokens = Array.from({ length: 1_000 }, (_, rank) => `t${String(rank * 7919)}`);
  const ranks = await ranksOf(tokens);
  for (const [rank, token] of tokens.entries()) {
    const bytes = Buffer.from(`..${token}..`);
    expect(rankOf(ranks, bytes, 2, 2 + token.length)).toBe(rank);
  }
  expect(rankOf(ranks, Buffer.from('t1'), 0, 2)).toBe(NO_RANK);
  expect(rankOf(ranks, Buffer.from('t79190t79190t79190'), 0, 18)).toBe(NO_RANK);
});

test('joins the pair of the lowest rank first, and the first of several', async () => {
  const ranks = await ranksOf(['a', 'b', 'c', 'bc', 'ab', 'abc', 'aa']);
  // a|bc becomes abc; ab|c would have, too.
  expect(countPieceTokens(ranks, 'abc')).toBe(1);
  // bc before ab: a|b|bc cannot come of it, and ab is formed where it still can be.
  expect(countPieceTokens(ranks, 'abbc')).toBe(2);
  expect(countPieceTokens(ranks, 'aaa')).toBe(2);
  expect(countPieceTokens(ranks, 'cba')).toBe(3);
  expect(countPieceTokens(ranks, '')).toBe(0);
});
