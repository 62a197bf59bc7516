import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Index } from '../../src/shared/ports.js';
import {
  createHybridRanker,
  createLexicalRanker,
  createSemanticRanker,
} from '../../src/shared/search/ranking.js';
import { isNamed } from '../support/access-oracle.js';
import { oracle } from '../support/filter-oracle.js';
import { fillWorld, FILTERS, hideInWorld, OTHERS, OWNER, QUERIES } from '../support/recall-data.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { searchByScan } from '../support/section-scores.js';
import { openSearchWorld, type SearchWorld, type WorldDocument } from '../support/search-world.js';
import { until } from '../support/until.js';
import { parsed } from './index-data.js';

const RANKERS = {
  lexical: createLexicalRanker(),
  semantic: createSemanticRanker(),
  hybrid: createHybridRanker(0.6),
};
type RankingName = keyof typeof RANKERS;
/** Most hits, and the least share of the best that must be among them: over all filters, and with each of them. */
const PAGES = [
  { k: 10, least: 0.99, leastOfEach: 0.95 },
  { k: 100, least: 0.97, leastOfEach: 0.95 },
];
/** Hits as good as the last that belongs there: engines add up the same products in different orders. */
const TOLERANCE = 1e-6;
const MINUTES = 60_000;

/** The share of the best that one search found. */
interface Recall {
  readonly of: string;
  readonly filter: string;
  readonly k: number;
  readonly share: number;
}

/** The least recall of every index among more chunks than are candidates; its vectors are from `WORLD_MODEL`. */
export function describeRecall(
  name: string,
  openIndexes: (redisUrl: string) => Promise<Readonly<Record<string, Index>>>,
  startRedis: () => Promise<TestRedis> = () => startTestRedis(),
): void {
  describe(`${name}, among thousands of chunks`, () => {
    let redis: TestRedis;
    let world: SearchWorld;
    let indexes: Readonly<Record<string, Index>> = {};
    let hiddenSoFar = 0;

    beforeAll(async () => {
      redis = await startRedis();
      world = await openSearchWorld(redis.url);
      await fillWorld(world);
      indexes = await openIndexes(redis.url);
      for (const index of Object.values(indexes))
        await until(async () => (await index.state()) === 'ready', 300);
    }, 10 * MINUTES);
    afterAll(async () => {
      await Promise.all(Object.values(indexes).map((index) => index.close()));
      world.close();
      await redis.stop();
    });

    const isFor = (callerId: string, filter: Record<string, unknown> | null) => {
      return ({ record, texts }: WorldDocument) =>
        texts.length > 0 && isNamed(callerId, record) && (filter === null || oracle(record, filter));
    };

    const recallOf = async (
      ranking: RankingName,
      query: string,
      [filterName, filter]: (typeof FILTERS)[number],
      callerId: string,
    ): Promise<Recall[]> => {
      const ranker = RANKERS[ranking];
      const all = await world.scores(query, { ranker, callerId, isWanted: isFor(callerId, filter) });
      const pages = PAGES.map(({ k }) => {
        const ranked = ranking === 'lexical' ? searchByScan(all, { k, minScore: 0, per: 'chunk' }) : all;
        return {
          k,
          best: Float64Array.from(ranked, ({ score }) => score)
            .sort()
            .reverse(),
        };
      });
      const recalls: Recall[] = [];
      for (const [engine, index] of Object.entries(indexes)) {
        const search = world.createSearch(index, ranker);
        for (const { k, best } of pages) {
          const asked = {
            principal: { id: callerId },
            query,
            filter: filter && parsed(filter),
            k,
            minScore: 0,
          };
          const hits = await search({ ...asked, per: 'chunk' });
          const size = Math.min(k, best.length);
          const last = best[size - 1] ?? 0;
          // A generation that is not published yet would score 1. A search that looks wider than the scan, because the engine
          // cannot say the filter, may find a better one.
          expect(hits.every(({ score }) => score <= Math.max(best[0] ?? 0, 0.99) + TOLERANCE)).toBe(true);
          const found = hits.filter(({ score }) => score >= last - TOLERANCE).length;
          recalls.push({ of: `${ranking}, ${engine}`, filter: filterName, k, share: found / size });
        }
      }
      return recalls;
    };

    const expectRecall = async (ranking: RankingName, filters: typeof FILTERS) => {
      const recalls: Recall[] = [];
      for (const filter of filters) {
        for (const [i, query] of QUERIES.entries()) {
          // The caller who owns most with each, the others in turn.
          for (const callerId of [OWNER, OTHERS[i % OTHERS.length] ?? OWNER])
            recalls.push(...(await recallOf(ranking, query, filter, callerId)));
        }
      }
      expect(shortfalls(recalls)).toEqual([]);
    };

    const hide = async (generations: number) => {
      await hideInWorld(world, generations - hiddenSoFar);
      hiddenSoFar = generations;
    };
    const rankings = ['lexical', 'semantic', 'hybrid'] as const;

    test('there are far more chunks with a word of the query than are looked at', async () => {
      for (const filter of FILTERS) {
        const [query = ''] = QUERIES.slice(1);
        const asked = { ranker: RANKERS.lexical, callerId: OWNER, isWanted: isFor(OWNER, filter[1]) };
        const scored = await world.scores(query, asked);
        const holding = scored.filter(({ score }) => score > 0).length;
        expect({ filter: filter[0], isFar: holding > 400 }).toEqual({ filter: filter[0], isFar: true });
      }
    });

    test.each(rankings)(
      '%s: the best are found with every kind of filter',
      (ranking) => expectRecall(ranking, FILTERS),
      10 * MINUTES,
    );

    describe.each([12, 80, 1_050])('while %d generations are written', (generations) => {
      const some = FILTERS.filter((_, i) => i % 6 === 1 || i === 0);
      beforeAll(() => hide(generations), 10 * MINUTES);
      test.each(rankings)(
        '%s: the best of what is published are found',
        (ranking) => expectRecall(ranking, some),
        10 * MINUTES,
      );
    });
  });
}

/** Rankings and engines that find less than they must, over all questions or with one kind of filter. */
function shortfalls(recalls: readonly Recall[]): string[] {
  return PAGES.flatMap(({ k, least, leastOfEach }) => {
    const ofPage = recalls.filter((each) => each.k === k);
    return [
      ...below(ofPage, ({ of }) => `${of}, recall@${String(k)}`, least),
      ...below(ofPage, ({ of, filter }) => `${of}, filter ${filter}, recall@${String(k)}`, leastOfEach),
    ];
  });
}

function below(recalls: readonly Recall[], nameOf: (recall: Recall) => string, least: number): string[] {
  return [...new Set(recalls.map(nameOf))].flatMap((name) => {
    const shares = recalls.filter((each) => nameOf(each) === name).map(({ share }) => share);
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
    return mean < least ? [`${name} is ${mean.toFixed(4)}`] : [];
  });
}
