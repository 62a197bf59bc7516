import { beforeEach } from '@jest/globals';
import { createChunks } from '../../src/shared/chunks/chunks.js';
import { nameMark, textHash, type TextBatch } from '../../src/shared/chunks/fields.js';
import type { RecordState } from '../../src/shared/chunks/write-chunks.js';
import { keys } from '../../src/shared/redis/keys.js';
import { packTerms } from '../../src/index/scoring/packed-terms.js';
import { useTestRedis } from './use-test-redis.js';

/** The document whose generation the chunks are of, and its record's state. */
const DOCUMENT = 'document';
export const GENERATION = 'generation';
export const generationKey = keys.generation(GENERATION);
export const now: RecordState = { documentId: DOCUMENT, revision: 5 };
export const marks = { tags: 'tag-a,tag-b', named: nameMark('report.pdf') };
/** A term that all chunks have, and another one. */
export const [sea, sky] = [3, 5];

export const numbersFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => first + i);
export const textOf = (number: number) => `text ${String(number)}`;

/** A batch of texts of the generation. */
export const textBatch = (first: number, count: number, changes: Partial<TextBatch> = {}): TextBatch => ({
  documentId: DOCUMENT,
  generation: GENERATION,
  first,
  chunks: numbersFrom(first, count).map((n) => ({
    text: textOf(n),
    tokenCount: 10 + n,
    overlap: n,
    hash: textHash(textOf(n)),
    like: n === 1 ? { generation: 'before', number: 7 } : null,
  })),
  ...marks,
  ...changes,
});

/** The fields that embedding adds to a chunk. */
export const embedded = (number: number, terms: number[] = [sea]) => ({
  number,
  vector: Float32Array.of(1, number),
  terms: packTerms({ counts: new Map(terms.map((term) => [term, 1])), length: terms.length }),
});

/** An open generation without chunks, before each test, of a document whose record is in the state `now`. */
export function useChunks() {
  const { redis } = useTestRedis({ failFast: false });
  const chunks = createChunks(redis);
  beforeEach(async () => {
    await redis.flushAll();
    await redis.hSet(keys.document(DOCUMENT), 'revision', String(now.revision));
    await redis.hSet(generationKey, 'document', DOCUMENT);
  });
  return {
    redis,
    chunks,
    write: (first: number, count: number, changes: Partial<TextBatch> = {}) =>
      chunks.writeTexts(textBatch(first, count, changes), now.revision),
    embed: (numbers: readonly number[], changes: Partial<Parameters<typeof chunks.writeEmbedded>[1]> = {}) =>
      chunks.writeEmbedded(GENERATION, {
        batch: 0,
        chunks: numbers.map((n) => embedded(n)),
        owner: 'ann',
        named: marks.named,
        ...changes,
      }),
    tagsOf: (number: number) => redis.hGet(keys.chunk(GENERATION, number), 'tags'),
    discard: () => redis.hSet(generationKey, 'discarded', '1'),
    /** The number of chunks of the owner that hold a term. */
    counted: (term: number) => redis.hGet(keys.statistics('ann'), String(term)),
  };
}
