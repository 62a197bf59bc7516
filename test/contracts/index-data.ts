import { randomUUID } from 'node:crypto';
import { createChunks } from '../../src/shared/chunks/chunks.js';
import { generationId, type DocumentRecord } from '../../src/shared/document.js';
import type { Transition } from '../../src/shared/documents/change.js';
import { documentTags } from '../../src/shared/documents/record-fields.js';
import { createRecords } from '../../src/shared/documents/records.js';
import {
  finishRetag,
  patch,
  prepare,
  publish,
  remove,
  replaceContent,
  startAttempt,
  type Patch,
} from '../../src/shared/documents/transitions.js';
import { parseFilter, type Filter } from '../../src/shared/filters/parse.js';
import { createRedis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { hashTerm } from '../../src/shared/text/hash-term.js';
import { packTerms } from '../../src/index/scoring/packed-terms.js';
import { makeContent, makeDocument, makeOperation } from '../support/documents.js';

/** Puts documents with chosen vectors into Redis by the very steps that workers and API take. */
export type IndexData = Awaited<ReturnType<typeof openIndexData>>;

const TEXTS_AT_ONCE = 1_000;

export async function openIndexData(url: string) {
  const redis = createRedis(url, { failFast: true, onError: () => undefined });
  await redis.connect();
  // As the first sweep notes of data that is new.
  await redis.hSet(keys.filterTagsRenewed, 'done', '0');
  const records = createRecords(redis);
  const chunks = createChunks(redis);

  const current = async (id: string): Promise<DocumentRecord> => {
    const record = await records.read(id);
    if (!record) throw new Error(`no document ${id}`);
    return record;
  };

  /** Writes all chunks of a generation that is not published yet. @returns its id */
  const write = async (id: string, vectors: readonly (readonly number[])[]): Promise<string> => {
    const queued = await current(id);
    const fence = { documentId: id, version: queued.version, attempt: queued.attempt };
    const started = await records.update(id, (record) => startAttempt(record, fence));
    const generation = generationId(queued);
    const texts = vectors.map(() => ({
      text: 'text',
      tokenCount: 1,
      overlap: 0,
      hash: randomUUID(),
      like: null,
    }));
    const batch = { documentId: id, generation, tags: documentTags(queued), named: '' };
    for (let first = 0; first < Math.max(1, texts.length); first += TEXTS_AT_ONCE) {
      const some = texts.slice(first, first + TEXTS_AT_ONCE);
      await chunks.writeTexts({ ...batch, first, chunks: some }, started.record?.revision ?? 0);
    }
    const rows = vectors.map((vector, number) => ({
      number,
      vector: unit(vector),
      terms: termsOf(generation, number),
    }));
    await chunks.writeVectors(generation, rows);
    await chunks.close(generation, { chunks: vectors.length, tokens: vectors.length });
    return generation;
  };

  /** The data written of a document's newest attempt. */
  const written = async (id: string) => {
    const { version, attempt, ...record } = await current(id);
    const generation = generationId({ version, attempt, ...record });
    const counts = await chunks.generation(generation);
    if (!counts) throw new Error('nothing is written');
    return { documentId: id, version, attempt, chunkCount: counts.chunks };
  };
  const publishWritten = async (id: string): Promise<void> => {
    const whole = await written(id);
    await records.update(id, (record) => publish(record, { ...whole, tokenCount: 1 }));
  };
  const publishVectors = async (id: string, vectors: readonly (readonly number[])[]): Promise<string> => {
    const generation = await write(id, vectors);
    await publishWritten(id);
    return generation;
  };

  return {
    redis,
    create: async (changes: Partial<DocumentRecord> = {}): Promise<string> => {
      const record = makeDocument(changes);
      await records.create(record);
      return record.id;
    },
    /** @returns the id of its generation */
    publish: publishVectors,
    write,
    /** Tells indexes that the written generation will soon be published. */
    prepare: async (id: string): Promise<void> => {
      const whole = await written(id);
      await records.update(id, (record) => prepare(record, whole));
    },
    publishWritten,
    /** Takes a step of the document's life. */
    step: async (id: string, transition: Transition): Promise<void> => {
      await records.update(id, transition);
    },
    /** @returns the id of its generation */
    replace: async (id: string, vectors: readonly (readonly number[])[]): Promise<string> => {
      const before = await current(id);
      await records.update(id, (record) =>
        replaceContent(record, { content: makeContent(), operation: makeOperation() }),
      );
      const generation = await publishVectors(id, vectors);
      const { generation: old = null, chunkCount = 0 } = before.published ?? {};
      if (old !== null) await chunks.unlink(old, range(chunkCount));
      return generation;
    },
    patch: async (id: string, changes: Patch): Promise<void> => {
      const { record } = await records.update(id, (before) => patch(before, changes));
      const { generation = null, chunkCount = 0 } = record?.published ?? {};
      if (!record) return;
      const of = { documentId: id, revision: record.revision };
      if (generation !== null) {
        await chunks.writeTags(generation, {
          numbers: range(chunkCount),
          tags: documentTags(record),
          named: '',
          of,
        });
      }
      await records.update(id, (patched) => finishRetag(patched, record.retag));
    },
    remove: async (id: string): Promise<void> => {
      const before = await current(id);
      await records.update(id, remove);
      const { generation = null, chunkCount = 0 } = before.published ?? {};
      if (generation !== null) await chunks.unlink(generation, range(chunkCount));
    },
    current,
  };
}

/** Returns the packed terms of a chunk in the data: an index hands them through as they are. */
export function termsOf(generation: string, number: number): Uint8Array {
  return packTerms({ length: 1, counts: new Map([[hashTerm(`${generation}:${String(number)}`), 1]]) });
}

export function unit(vector: readonly number[]): Float32Array {
  const norm = Math.hypot(...vector);
  return Float32Array.from(vector, (value) => (norm === 0 ? 0 : value / norm));
}

export function innerProduct(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

export function parsed(json: Record<string, unknown>): Filter | null {
  const result = parseFilter(json);
  if ('errors' in result) throw new Error(JSON.stringify(result.errors));
  return result.filter;
}
