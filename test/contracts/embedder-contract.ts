import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Embedder } from '../../src/shared/ports.js';

interface EmbedderUnderTest {
  readonly embedder: Embedder;
  stop(): Promise<void>;
}

/** The contract of every embedder. */
export function describeEmbedder(name: string, create: () => Promise<EmbedderUnderTest>): void {
  describe(`embedder ${name}`, () => {
    let tested: EmbedderUnderTest;
    beforeAll(async () => {
      tested = await create();
    });
    afterAll(() => tested.stop());

    test('gives one vector per text, in order, of the length it says', async () => {
      const { embedder } = tested;
      const texts = ['the moon orbits the earth', 'bread is baked in ovens', 'ships cross the sea'];
      const { vectors } = await embedder.embedDocuments(texts);
      expect(vectors.map(({ length }) => length)).toEqual(texts.map(() => vectors[0]?.length));
      expect(await embedder.dimensions()).toBe(vectors[0]?.length);
      for (const [index, text] of texts.entries()) {
        const alone = await embedder.embedDocuments([text]);
        expect([...(alone.vectors[0] ?? [])]).toEqual([...(vectors[index] ?? [])]);
      }
    });

    test('gives finite vectors of norm at most 1, whatever the text', async () => {
      const texts = [
        'plain',
        '\u0000\uffff',
        '👩‍👩‍👧',
        'の',
        'word '.repeat(5000),
        '-',
        '漢字かな交じり文',
        '\ud800',
      ];
      const { vectors } = await tested.embedder.embedDocuments(texts);
      for (const vector of vectors) {
        expect(vector.every(Number.isFinite)).toBe(true);
        expect(Math.hypot(...vector)).toBeLessThanOrEqual(1.000001);
      }
    });

    test('puts a question nearest to the text that shares its words', async () => {
      const { embedder } = tested;
      const texts = ['ships cross the sea', 'the moon orbits the earth', 'bread is baked in ovens'];
      const { vectors } = await embedder.embedDocuments(texts);
      const {
        vectors: [query],
      } = await embedder.embedQuery('what orbits earth');
      const similarities = vectors.map((vector) =>
        vector.reduce((sum, value, index) => sum + value * (query?.[index] ?? 0), 0),
      );
      expect(similarities.indexOf(Math.max(...similarities))).toBe(1);
    });

    test('says the same of the same text each time', async () => {
      const [first, second] = [
        await tested.embedder.embedQuery('same text'),
        await tested.embedder.embedQuery('same text'),
      ];
      expect(first.vectors).toEqual(second.vectors);
    });

    test('takes as many texts at once as it says', async () => {
      const { embedder } = tested;
      const texts = Array.from({ length: embedder.limits.inputs }, (_, index) => `text ${String(index)}`);
      const { vectors } = await embedder.embedDocuments(texts);
      expect(vectors).toHaveLength(texts.length);
    });

    test('has nothing to say about no texts', async () => {
      expect((await tested.embedder.embedDocuments([])).vectors).toEqual([]);
    });
  });
}
