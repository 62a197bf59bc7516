import { randomUUID } from 'node:crypto';
import { createBuiltinEmbedder } from '../../src/shared/adapters/builtin/embedder.js';
import { createChunks } from '../../src/shared/chunks/chunks.js';
import type { VectorSet } from '../../src/shared/data-set/stored-vectors.js';
import { generationId } from '../../src/shared/document.js';
import { documentTags } from '../../src/shared/documents/record-fields.js';
import { createRecords } from '../../src/shared/documents/records.js';
import { publish, startAttempt } from '../../src/shared/documents/transitions.js';
import type { Redis } from '../../src/shared/redis/client.js';
import { createTermStatistics } from '../../src/shared/term-statistics/term-statistics.js';
import { analyzeText } from '../../src/shared/text/list-terms.js';
import { packTerms } from '../../src/index/scoring/packed-terms.js';
import { makeDocument } from '../../test/support/documents.js';
import { eachAtOnce } from './client.js';

const CHUNKS_A_DOCUMENT = 20;
const AT_ONCE = 16;

/**
 * Returns a function that writes any number of chunks of an owner straight into Redis, by the steps that workers take: 20
 * chunks in a document.
 */
export function createSeed(
  redis: Redis,
  { makeText, vectors: set }: { readonly makeText: () => string; readonly vectors: VectorSet },
): (owner: string, count: number) => Promise<void> {
  const records = createRecords(redis, set);
  const chunks = createChunks(redis, set);
  const statistics = createTermStatistics(redis);
  const embedder = createBuiltinEmbedder();

  const addDocument = async (owner: string) => {
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
        named: '',
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

  return async (owner, count) => {
    const documents = Array.from({ length: Math.ceil(count / CHUNKS_A_DOCUMENT) }, (_, at) => at);
    await eachAtOnce(documents, AT_ONCE, () => addDocument(owner));
  };
}
