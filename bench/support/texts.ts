import type { Collection } from './collections.js';
import { createRandom } from './random.js';

const SENTENCES_A_CHUNK = 5;

/**
 * Returns a function that makes texts of about 100 words, of the collections' sentences: as many different ones as are
 * asked for, and the same ones in every run.
 */
export function createTexts(collections: readonly Collection[]): () => string {
  const sentences = collections.flatMap(({ documents }) =>
    documents.flatMap(({ text }) => text.split(/(?<=[.!?])\s+/).filter((each) => each.length > 20)),
  );
  const below = createRandom();
  return () =>
    Array.from({ length: SENTENCES_A_CHUNK }, () => sentences[below(sentences.length)] ?? '').join(' ');
}
