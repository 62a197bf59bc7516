import { randomUUID } from 'node:crypto';
import { createBuiltinEmbedder } from '../../src/shared/adapters/builtin/embedder.js';
import { createChunks } from '../../src/shared/chunks/chunks.js';
import type { VectorSet } from '../../src/shared/data-set/stored-vectors.js';
import { generationId } from '../../src/shared/document.js';
import { documentTags } from '../../src/shared/documents/document-tags.js';
import { createRecords } from '../../src/shared/documents/records.js';
import { publish, startAttempt } from '../../src/shared/documents/transitions.js';
import type { Redis } from '../../src/shared/redis/client.js';
import { createTermStatistics } from '../../src/shared/term-statistics/term-statistics.js';
import { analyzeText } from '../../src/shared/text/analyze-text.js';
import { packTerms } from '../../src/shared/text/packed-terms.js';
import { makeDocument } from '../../test/support/documents.js';
import { eachAtOnce } from './client.js';
import type { Collection } from './collections.js';

const CHUNKS_A_DOCUMENT = 20;
const SENTENCES_A_CHUNK = 5;
const AT_ONCE = 16;

/** Writes chunks straight into Redis by the steps that workers take: any number of them, of the collections' sentences. */
export function createSeed(
  redis: Redis,
  collections: readonly Collection[],
  { owner, vectors: set }: { owner: string; vectors: VectorSet },
) {
  const sentences = collections.flatMap(({ documents }) =>
    documents.flatMap(({ text }) => text.split(/(?<=[.!?])\s+/).filter((each) => each.length > 20)),
  );
  const records = createRecords(redis, set);
  const chunks = createChunks(redis, set);
  const statistics = createTermStatistics(redis);
  const embedder = createBuiltinEmbedder();
  // A generator of its own, so that every run has the same texts (Park and Miller 1988).
  let state = 1;
  const below = (limit: number) => (state = (state * 48_271) % 2_147_483_647) % limit;
  const makeText = () =>
    Array.from({ length: SENTENCES_A_CHUNK }, () => sentences[below(sentences.length)] ?? '').join(' ');

  const addDocument = async () => {
    const texts = Array.from({ length: CHUNKS_A_DOCUMENT }, makeText);
    const record = makeDocument({ ownerId: owner, readers: [owner], writers: [owner], admins: [owner] });
    await records.create(record);
    const fence = { documentId: record.id, version: 1, attempt: 1 };
    const started = await records.update(record.id, (each) => startAttempt(each, fence));
    const generation = generationId(record);
    const { vectors } = await embedder.embedDocuments(texts);
    const { revision = 0 } = started.record ?? {};
    await chunks.writeTexts(
      {
        documentId: record.id,
        generation,
        first: 0,
        tags: documentTags(record),
        chunks: texts.map((text) => ({ text, tokenCount: 100, overlap: 0, hash: randomUUID(), like: null })),
      },
      revision,
    );
    const made = texts.flatMap((text, number) => {
      const vector = vectors[number];
      return vector ? [{ number, vector, terms: packTerms(analyzeText(text)) }] : [];
    });
    await chunks.writeVectors(generation, made);
    await statistics.settle(
      { generation, batch: 0, chunks: made },
      { documentId: record.id, revision, owner },
    );
    await chunks.close(generation, { chunks: texts.length, tokens: 100 * texts.length });
    await records.update(record.id, (each) =>
      publish(each, { ...fence, chunkCount: texts.length, tokenCount: 100 * texts.length }),
    );
  };

  return async (count: number): Promise<void> => {
    const documents = Array.from({ length: Math.ceil(count / CHUNKS_A_DOCUMENT) }, (_, at) => at);
    await eachAtOnce(documents, AT_ONCE, addDocument);
  };
}
