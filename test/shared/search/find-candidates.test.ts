import { expect, test } from '@jest/globals';
import type { Candidate, Index } from '../../../src/shared/ports.js';
import { createFindCandidates } from '../../../src/shared/search/find-candidates.js';
import { createLexicalRanker } from '../../../src/shared/search/ranking.js';

const K = 10;

/** Looks for ten chunks by words, in an index that answers with so many candidates. */
async function find(minScore: number, count: number) {
  const candidates = Array.from({ length: count }, (_, number): Candidate => {
    return { documentId: 'document', generation: 'document.1.1', number, score: 0.5 };
  });
  const unused = () => Promise.reject(new Error('not asked for'));
  const index: Pick<Index, 'vectors' | 'words'> = {
    vectors: { search: unused, similarities: unused },
    words: { search: ({ limit }) => Promise.resolve(candidates.slice(0, limit)), scores: unused },
  };
  const request = { callerId: 'caller', filter: null, query: 'crane', k: K, minScore, per: 'chunk' } as const;
  const confirmation = { onUnconfirmed: undefined };
  return createFindCandidates({
    index,
    ranker: createLexicalRanker(),
    request,
    embed: unused,
    confirmation,
  })(1);
}

test.each([
  // An index that has found enough of a least score looks no further.
  { minScore: 0.4, count: K - 1, isCutOff: false },
  { minScore: 0.4, count: K, isCutOff: true },
  { minScore: 0, count: K + 15, isCutOff: false },
  { minScore: 0, count: K + 16, isCutOff: true },
])('of $count candidates of at least $minScore there may be more: $isCutOff', async (each) => {
  const found = await find(each.minScore, each.count);
  expect([found.candidates.length, found.isCutOff]).toEqual([each.count, each.isCutOff]);
});
