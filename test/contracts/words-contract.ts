import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createBuiltinEmbedder } from '../../src/shared/adapters/builtin/embedder.js';
import type { Candidate, Index, WordSearch } from '../../src/shared/ports.js';
import {
  createFittingRanker,
  createHybridRanker,
  createLexicalRanker,
  type Ranker,
} from '../../src/shared/search/ranking.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { EXACT_SCORES, expectAnswer, expectWords, expectWordsButTies } from '../support/search-answers.js';
import { openSearchWorld, type SearchWorld, type WorldDocument } from '../support/search-world.js';
import { describeLeastScore } from './least-score-contract.js';
import { until } from '../support/until.js';
import { parsed } from './index-data.js';

const CALLER = 'owner';
const embedder = createBuiltinEmbedder();
const vectorOf = async (query: string): Promise<Float32Array> =>
  (await embedder.embedQuery(query)).vectors[0] ?? new Float32Array();
const ranker = createLexicalRanker();

/** The contract of every WordIndex; the vectors beside it are from `WORLD_MODEL`. */
export function describeWordIndex(
  name: string,
  makeIndex: (redisUrl: string) => Promise<Index>,
  startRedis: () => Promise<TestRedis> = startTestRedis,
): void {
  describe(`${name}, by words`, () => {
    let redis: TestRedis;
    let world: SearchWorld;
    let index: Index;

    beforeAll(async () => {
      redis = await startRedis();
      world = await openSearchWorld(redis.url);
      index = await makeIndex(redis.url);
      await until(async () => (await index.state()) === 'ready');
    });
    afterAll(async () => {
      await index.close();
      world.close();
      await redis.stop();
    });

    describe('of a few chunks', () => {
      let id: string;
      beforeEach(async () => {
        await world.clear();
        id = await world.create({ metadata: { colour: 'red' } });
        await world.publish(id, ['the harbour', 'harbour harbour crane', 'a ledger', '倉庫の鍵']);
      });

      const ask = (query: string, more: Partial<WordSearch> = {}): Promise<Candidate[]> =>
        index.words.search({
          principal: { id: CALLER },
          filter: null,
          limit: 100,
          minScore: Number.MIN_VALUE,
          query,
          ...more,
        });
      const scoresByScan = async (query: string) => {
        const all = await world.scores(query, { ranker, callerId: CALLER, isWanted: () => true });
        return new Map(
          all.map(({ documentId, number, score }) => [`${documentId}:${String(number)}`, score]),
        );
      };
      const numbers = (found: readonly Candidate[]) => found.map(({ number }) => number);

      test('finds what holds one of them, more of them first, with the very scores of the ranker', async () => {
        const found = await ask('harbour crane');
        expect(numbers(found)).toEqual([1, 0]);
        expect(found.map(({ documentId }) => documentId)).toEqual([id, id]);
        const scores = await scoresByScan('harbour crane');
        for (const { documentId, number, score } of found)
          expect(score).toBe(scores.get(`${documentId}:${String(number)}`));
      });

      test('a chunk scores more for what the chunks around it say, and only if it says something itself', async () => {
        const long = await world.create();
        const filler = Array.from({ length: 6 }, () => 'a wagon');
        // The ninth chunk begins another section.
        await world.publish(long, ['a crane', 'the harbour', ...filler, 'the harbour', 'a wagon']);
        const found = await ask('harbour crane', { filter: null });
        const ofLong = found.filter(({ documentId }) => documentId === long);
        const scoreOf = (wanted: number) => ofLong.find(({ number }) => number === wanted)?.score ?? NaN;
        expect(scoreOf(1)).toBeGreaterThan(scoreOf(8));
        expect(numbers(ofLong).sort()).toEqual([0, 1, 8]);
        const scores = await scoresByScan('harbour crane');
        for (const { documentId, number, score } of found)
          expect(score).toBe(scores.get(`${documentId}:${String(number)}`));
      });

      test('tells the same scores of chunks that are named, and none of what is not there', async () => {
        const found = await ask('harbour crane', { minScore: 0 });
        expect(numbers(found)).toEqual([1, 0, 2, 3]);
        const gone = { documentId: id, generation: `${id}.9.9`, number: 0 };
        const scores = await index.words.scores({
          principal: { id: CALLER },
          query: 'harbour crane',
          chunks: [...found, gone],
        });
        expect([...scores]).toEqual([...found.map(({ score }) => score), NaN]);
      });

      test('leaves out what scores less than is asked for', async () => {
        const [best, second] = await ask('harbour crane');
        expect(numbers(await ask('harbour crane', { minScore: best?.score ?? 2 }))).toEqual([1]);
        expect(numbers(await ask('harbour crane', { minScore: second?.score ?? 2 }))).toEqual([1, 0]);
      });

      test('finds in languages without spaces', async () => {
        expect(numbers(await ask('倉庫'))).toEqual([3]);
      });

      test('finds nothing where nothing holds them, and no more than the limit', async () => {
        expect(await ask('zebra')).toEqual([]);
        expect(await ask('harbour crane', { limit: 1 })).toHaveLength(1);
      });

      test('tells similarities of named chunks like the search by vectors', async () => {
        const vector = await vectorOf('harbour crane ledger');
        const nearest = await index.vectors.search({
          vector,
          principal: { id: CALLER },
          filter: null,
          limit: 3,
        });
        const gone = { documentId: id, generation: `${id}.9.9`, number: 0 };
        const chunks = [...nearest, gone];
        const similarities = await index.vectors.similarities({ vector, principal: { id: CALLER }, chunks });
        expect(similarities).toHaveLength(4);
        for (const [i, { score }] of nearest.entries()) expect(similarities[i]).toBeCloseTo(score, 6);
        expect(similarities[3]).toBeNaN();
      });

      test('finds nothing of others, and only what the filter lets through', async () => {
        expect(await ask('harbour', { principal: { id: 'somebody' } })).toEqual([]);
        const filter = (colour: string) => ({ filter: parsed({ colour }) });
        expect(numbers(await ask('harbour', filter('red')))).toHaveLength(2);
        expect(await ask('harbour', filter('blue'))).toEqual([]);
        await world.patch(id, { readers: ['friend'] });
        expect(numbers(await ask('harbour', { principal: { id: 'friend' } }))).toHaveLength(2);
      });

      test('finds nothing of what is not published yet, and the new once it is', async () => {
        await world.abandon(id, ['harbour zebra', 'zebra'], false);
        expect(await ask('zebra')).toEqual([]);
        expect(numbers(await ask('harbour'))).toHaveLength(2);
        await world.replace(id, ['zebra']);
        expect(numbers(await ask('zebra'))).toEqual([0]);
        expect(await ask('harbour')).toEqual([]);
        await world.remove(id);
        expect(await ask('zebra')).toEqual([]);
      });

      test('finds what holds the lightest word alone within the largest filter', async () => {
        const colours = Array.from({ length: 1_999 }, (_, i) => `colour ${String(i)}`);
        const filter = parsed({
          $or: [
            { colour: { $in: colours.slice(0, 1_000) } },
            { colour: { $in: ['red', ...colours.slice(1_000)] } },
          ],
        });
        const hits = await world.createSearch(
          index,
          createLexicalRanker(),
        )({
          principal: { id: CALLER },
          query: 'xylophone zebra ledger',
          filter,
          k: 10,
          minScore: 0.01,
          per: 'chunk',
        });
        expect(hits.map(({ content }) => content)).toEqual(['a ledger']);
      });

      test('finds what holds only a common word where that outweighs a rare one in a long text', async () => {
        const long = Array.from({ length: 900 }, (_, i) => `xylophone${String(i)}`).join(' ');
        await world.publish(await world.create(), [
          `xylophone ${long}`,
          ...Array.from({ length: 230 }, (_, i) => `${i < 125 ? 'harbour' : 'ledger'} ${String(i)}`),
        ]);
        const asked = {
          principal: { id: CALLER },
          query: 'harbour xylophone',
          filter: null,
          per: 'chunk' as const,
        };
        const search = world.createSearch(index, ranker);
        const all = await world.scores(asked.query, { ranker, callerId: CALLER, isWanted: () => true });
        for (const k of [1, 10]) {
          const hits = await search({ ...asked, k, minScore: 0 });
          expect(hits[0]?.content).toMatch(/^(the )?harbour/);
          expectAnswer(hits, all, { ...asked, k, minScore: 0, tolerance: EXACT_SCORES });
        }
      });

      test.each(['lexical', 'hybrid'])(
        '%s ranking fills up with what holds none of the words',
        async (name) => {
          const ranker = name === 'lexical' ? createLexicalRanker() : createHybridRanker(0.5);
          const search = world.createSearch(index, ranker);
          const asked = {
            principal: { id: CALLER },
            query: 'ledger',
            filter: null,
            k: 10,
            per: 'chunk' as const,
          };
          const all = await search({ ...asked, minScore: 0 });
          expect(all).toHaveLength(4);
          expect(all[0]?.content).toBe('a ledger');
          const good = await search({ ...asked, minScore: 0.1 });
          expect(good.map(({ content }) => content)).toEqual(['a ledger']);
        },
      );
    });

    describeLeastScore(() => ({ world, index }));

    describe('of more chunks than are candidates', () => {
      let rare: string;
      const FILLER = ['harbour', 'crane', 'ledger', 'wagon', 'signal', 'copper'];
      const WORDS = Array.from({ length: 40 }, (_, i) => `word${String.fromCharCode(97 + (i % 26), 97 + i)}`);

      beforeAll(async () => {
        await world.clear();
        // Each nearer to the query by its vector than the long text that alone holds its one rare word.
        for (let n = 0; n < 30; n += 1) {
          const texts = Array.from({ length: 25 }, (_, i) => {
            const at = n * 25 + i;
            return `harbour crane ledger ${FILLER[at % 6] ?? ''} ${WORDS[at % 40] ?? ''}`;
          });
          await world.publish(await world.create(), texts);
        }
        const long = `xylophone harbour ${WORDS.join(' ')} ${WORDS.toReversed().join(' ')}`;
        rare = await world.create();
        await world.publish(rare, [long]);
      });

      const query = 'harbour crane ledger xylophone';
      const answerOf = async (ranker: Ranker, k: number) => {
        const asked = {
          principal: { id: CALLER },
          query,
          filter: null,
          k,
          minScore: 0,
          per: 'chunk' as const,
        };
        const hits = await world.createSearch(index, ranker)(asked);
        const all = await world.scores(query, { ranker, callerId: CALLER, isWanted: () => true });
        return { hits, all, asked };
      };

      test('by vector the one with the rare word is not among them', async () => {
        const vector = await vectorOf(query);
        const nearest = await index.vectors.search({
          vector,
          principal: { id: CALLER },
          filter: null,
          limit: 400,
        });
        expect(nearest).toHaveLength(400);
        expect(nearest.every(({ documentId }) => documentId !== rare)).toBe(true);
      });

      test('who may read one document of many finds its chunks, and nothing of the others', async () => {
        await world.patch(rare, { readers: ['friend'] });
        const asked = { principal: { id: 'friend' }, query, filter: null, limit: 100, minScore: 0 };
        const found = await index.words.search(asked);
        expect(found.map(({ documentId, number }) => [documentId, number])).toEqual([[rare, 0]]);
        const isWanted = ({ record }: WorldDocument) => record.id === rare;
        const [scanned] = await world.scores(query, { ranker, callerId: 'friend', isWanted });
        expect(found[0]?.score).toBe(scanned?.score);
      });

      test.each([
        ['lexical', createLexicalRanker()],
        ['hybrid', createHybridRanker(0.3)],
        ['hybrid, fitted to its candidates,', createFittingRanker(query, 0.05)],
      ])('%s ranking answers as a scan of all does', async (_name, ranker) => {
        for (const k of [1, 10, 100]) {
          const { hits, all, asked } = await answerOf(ranker, k);
          expect(hits).toHaveLength(k);
          if (ranker.ranking === 'lexical') {
            // An engine chooses which chunks it proposes among hundreds with the same own score.
            if (index.name === 'exact') expectWords(hits, all, asked);
            else expectWordsButTies(hits, all, asked);
          } else expectAnswer(hits, all, { ...asked, tolerance: EXACT_SCORES });
        }
      });
    });
  });
}
