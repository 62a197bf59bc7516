import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Reranker } from '../../src/shared/ports.js';
import { rejection } from '../support/rejection.js';

interface RerankerUnderTest {
  readonly reranker: Reranker;
  stop(): Promise<void>;
}

const QUERY = 'how tall is the lighthouse';
/** The second answers the query, whatever a reranker goes by. */
const DOCUMENTS = [
  'Bread is baked in ovens. relevance 0.02',
  'The lighthouse is 60 metres tall: how tall that is! relevance 0.97',
  'Ships cross the sea. relevance 0.1',
];

/** The contract of every reranker. */
export function describeReranker(name: string, create: () => Promise<RerankerUnderTest>): void {
  describe(`reranker ${name}`, () => {
    let tested: RerankerUnderTest;
    beforeAll(async () => {
      tested = await create();
    });
    afterAll(() => tested.stop());

    test('gives one score from 0 to 1 for each document, in their order', async () => {
      const { scores } = await tested.reranker.rerank(QUERY, DOCUMENTS);
      expect(scores).toHaveLength(DOCUMENTS.length);
      for (const score of scores) {
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1);
      }
      expect(scores.indexOf(Math.max(...scores))).toBe(1);
      const turned = await tested.reranker.rerank(QUERY, [...DOCUMENTS].reverse());
      expect(turned.scores).toEqual([...scores].reverse());
    });

    test('says the same of the same texts each time, and of texts that are there twice', async () => {
      const asked = [...DOCUMENTS, ...DOCUMENTS];
      const first = await tested.reranker.rerank(QUERY, asked);
      expect((await tested.reranker.rerank(QUERY, asked)).scores).toEqual(first.scores);
      expect(first.scores.slice(0, 3)).toEqual(first.scores.slice(3));
    });

    test('takes as many documents at once as it says, whatever they are', async () => {
      const { reranker } = tested;
      const odd = [
        '\u0000\uffff',
        '👩‍👩‍👧',
        'の',
        '-',
        '"quoted" \\ and\nbroken',
        '\ud800',
        'word '.repeat(5_000),
      ];
      const texts = Array.from(
        { length: reranker.limits.documents },
        (_, i) => odd[i] ?? `document ${String(i)}`,
      );
      const { scores } = await reranker.rerank('a "query" \\ of\nlines 👩‍👩‍👧', texts);
      expect(scores).toHaveLength(texts.length);
      expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
    });

    test('has nothing to say about no documents', async () => {
      expect((await tested.reranker.rerank(QUERY, [])).scores).toEqual([]);
    });

    test('counts tokens, or says that it does not', async () => {
      const { tokens } = await tested.reranker.rerank(QUERY, DOCUMENTS);
      if (tokens !== null) expect(tokens).toBeGreaterThan(0);
    });

    test('ends with the reason of a signal that has aborted', async () => {
      const reason = new Error('the caller has left');
      const asked = tested.reranker.rerank(QUERY, DOCUMENTS, { signal: AbortSignal.abort(reason) });
      expect(await rejection(asked)).toBe(reason);
    });
  });
}
