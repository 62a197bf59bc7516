import { round } from '../support/client.js';
import { makeVectorData } from './data.js';
import { K } from './engines.js';

const RECALLED = 50;

/** Returns a function that tells the share of the true ten best among the answers of an engine. */
export function createVectorRecall(size: number) {
  const { items, queries } = makeVectorData(size);
  const asked = queries.slice(0, RECALLED);
  const truth = asked.map((query) => {
    const scores = Float64Array.from(items, (item) => product(item, query));
    return { scores, least: scores.toSorted().at(-K) ?? Number.NaN };
  });
  return {
    queries: asked.length,
    /** Vectors as good as the tenth count among the best: single precision cannot tell them apart. */
    recall: (answers: readonly (readonly number[])[]) => {
      const found = truth.map(({ scores, least }, at) => {
        const places = answers[at] ?? [];
        return places.filter((place) => (scores[place] ?? Number.NaN) >= least - 1e-6).length / K;
      });
      return round(found.reduce((sum, each) => sum + each, 0) / found.length, 3);
    },
  };
}

function product(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
