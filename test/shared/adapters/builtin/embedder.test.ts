import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { createBuiltinEmbedder } from '../../../../src/shared/adapters/builtin/embedder.js';
import { makeBackgroundRates } from '../../../../src/shared/text/background-words.js';

const embedder = createBuiltinEmbedder();

async function documentVector(text: string): Promise<Float32Array> {
  const { vectors } = await embedder.embedDocuments([text]);
  return vectors[0] ?? new Float32Array();
}

async function queryVector(text: string): Promise<Float32Array> {
  const { vectors } = await embedder.embedQuery(text);
  return vectors[0] ?? new Float32Array();
}

function product(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}

async function similarity(query: string, text: string): Promise<number> {
  return product(await queryVector(query), await documentVector(text));
}

describe('the builtin embedder', () => {
  test('gives one vector of its dimension per text, in order', async () => {
    const { vectors, tokens } = await embedder.embedDocuments(['wolf', 'sheep', '']);
    expect(vectors.map(({ length }) => length)).toEqual(Array(3).fill(await embedder.dimensions()));
    expect(vectors[1]).toEqual(await documentVector('sheep'));
    expect(tokens).toBeNull();
  });

  test('keeps the vectors that data was embedded with', async () => {
    const vector = await queryVector('wolf');
    const filled = Array.from(vector.entries()).filter(([, value]) => value !== 0);
    expect(embedder.model).toBe('builtin-2');
    expect(filled).toEqual([
      [111, -0.5],
      [665, 0.5],
      [728, 0.5],
      [868, 0.5],
    ]);
  });

  test('keeps the weights that data was embedded with', async () => {
    const vector = await documentVector('Wolves and people: wolves');
    const weights = [...vector]
      .filter((value) => value !== 0)
      .map(Math.abs)
      .sort();
    expect(weights).toHaveLength(8);
    expect(weights[0]).toBeCloseTo(0.0325, 5);
    expect(weights[7]).toBeCloseTo(0.064021, 5);
  });

  test('whoever changes a background rate of any language raises the name of the model, so that vectors are made anew', () => {
    const digests: Readonly<Record<string, string>> = { 'builtin-2': '9d98361039a2b36e' };
    const rates = [...makeBackgroundRates()].sort(([a], [b]) => a - b);
    const digest = createHash('sha256').update(JSON.stringify(rates)).digest('hex');
    expect(digests[embedder.model]).toBe(digest.slice(0, 16));
  });

  test('makes documents shorter than 1, the shorter the less they say, and queries of length 1', async () => {
    const short = await documentVector('wolf');
    const long = await documentVector(
      Array.from({ length: 400 }, (_, index) => `word${String(index)}`).join(' '),
    );
    expect(product(short, short)).toBeLessThan(product(long, long));
    expect(product(long, long)).toBeLessThan(1);
    const query = await queryVector('wolf and sheep');
    expect(product(query, query)).toBeCloseTo(1, 6);
  });

  test('gives a text without terms the zero vector', async () => {
    for (const vector of [await documentVector('the of and'), await queryVector('?!')]) {
      expect(vector.every((value) => value === 0)).toBe(true);
    }
  });

  test('leaves a query sparse: four dimensions a term', async () => {
    const vector = await queryVector('wolf sheep orchard aquarium');
    expect(vector.filter((value) => value !== 0).length).toBeLessThanOrEqual(16);
  });

  test.each([
    [
      'Which animals eat wolves?',
      'A wolf is eaten by larger animals.',
      'Orchards are planted with apple trees.',
    ],
    ['Wie viele Schafe?', 'Viele Schafe weiden im Tal.', 'Wie der Wolf in das Tal kam.'],
    ['黑豹队的防守丢了多少分？', '黑豹队的防守只丢了308分。', '华沙是波兰的首都。'],
    ['แมวกินปลา', 'แมวชอบกินปลาทู', 'สุนัขเห่าเสียงดัง'],
  ])('finds what answers "%s"', async (query, answer, other) => {
    expect(await similarity(query, answer)).toBeGreaterThan(await similarity(query, other));
  });
});
