import type { CallOptions } from '../ports.js';
import type { Embedding } from './embedding.js';

/**
 * Texts that have nothing to do with each other. A model's similarities begin where it rates them: some models never go
 * below .7.
 */
const UNRELATED = [
  'The train to the coast leaves at nine from platform four.',
  'Knead the dough for ten minutes and let it rise overnight.',
  'The court dismissed the appeal because it was filed too late.',
  'Photosynthesis turns light into chemical energy.',
  'Our goalkeeper saved two penalties in the final.',
  'Interest on the loan is due at the end of each quarter.',
  'Tighten the bolts of the rear wheel before riding.',
  'She painted the ceiling of the chapel in four years.',
  'The patient was given antibiotics for a week.',
  'A compiler translates source code into machine code.',
  'Whales breathe air and give birth to live young.',
  'The museum is closed on the first Monday in May.',
];

const MAX_FLOOR = 0.95;

/**
 * Measures the similarity that unrelated texts have with a model: the mean cosine of all pairs, from 0 to .95.
 * @throws UnavailableError when the provider cannot answer
 */
export async function measureFloor(
  embedding: Pick<Embedding, 'embedDocuments'>,
  options: CallOptions = {},
): Promise<number> {
  const texts = UNRELATED.map((text) => ({ text, tokens: text.length }));
  const { vectors } = await embedding.embedDocuments(texts, options);
  const cosines = vectors.flatMap((one, i) => vectors.slice(i + 1).map((other) => innerProduct(one, other)));
  const mean = cosines.reduce((sum, cosine) => sum + cosine, 0) / cosines.length;
  return Math.min(MAX_FLOOR, Math.max(0, mean));
}

function innerProduct(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < one.length; i += 1) sum += (one[i] ?? 0) * (other[i] ?? 0);
  return sum;
}
