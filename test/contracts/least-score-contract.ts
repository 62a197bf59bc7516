import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Index } from '../../src/shared/ports.js';
import { createLexicalRanker } from '../../src/shared/search/ranking.js';
import { expectWords } from '../support/search-answers.js';
import type { SearchWorld } from '../support/search-world.js';

const CALLER = 'owner';
const ranker = createLexicalRanker();

/** The contract of a WordIndex where the chunks with the highest own scores do not reach a least score. */
export function describeLeastScore(open: () => { readonly world: SearchWorld; readonly index: Index }): void {
  const world = () => open().world;
  const index = () => open().index;
  describe('of chunks that score less with what is around them', () => {
    const query = 'harbour crane';
    const k = 10;
    const LONE = 60;
    let scored: Awaited<ReturnType<SearchWorld['scores']>> = [];
    let minScore = 0;

    beforeAll(async () => {
      await world().clear();
      const other = (length: number) => Array.from({ length }, (_, i) => `wagon${String(i)}`).join(' ');
      for (let n = 0; n < LONE; n += 1) {
        const around = Array.from({ length: 7 }, () => other(20));
        await world().publish(await world().create(), [query, ...around]);
      }
      for (let n = 0; n < 3; n += 1) {
        const alike = Array.from({ length: 8 }, () => `${query} ${other(4)}`);
        await world().publish(await world().create(), alike);
      }
      scored = await world().scores(query, { ranker, callerId: CALLER, isWanted: () => true });
      const alone = scored.filter(({ text }) => text === query);
      const others = scored.filter(({ own, text }) => own > 0 && text !== query);
      minScore = Math.min(...others.map(({ score }) => score));
      expect(Math.max(...alone.map(({ score }) => score))).toBeLessThan(minScore);
      expect(Math.min(...alone.map(({ own }) => own))).toBeGreaterThan(
        Math.max(...others.map(({ own }) => own)),
      );
      expect(others).toHaveLength(24);
    });

    test.each(['chunk', 'document'] as const)(
      'a least score that the first candidates do not reach leaves no place free: %s',
      async (per) => {
        const asked = { principal: { id: CALLER }, query, filter: null, k, minScore, per };
        const hits = await world().createSearch(index(), ranker)(asked);
        expect(hits).toHaveLength(per === 'chunk' ? k : 3);
        expectWords(hits, scored, asked);
      },
    );

    test('all that reach it are found while there are fewer than the limit', async () => {
      const asked = { principal: { id: CALLER }, query, filter: null, minScore };
      expect(await index().words.search({ ...asked, limit: 30 })).toHaveLength(24);
      expect(await index().words.search({ ...asked, limit: 20 })).toHaveLength(20);
      expect((await index().words.search({ ...asked, limit: 26, enough: 1 })).length).toBeGreaterThan(0);
    });
  });
}
