import { readerTag } from '../../src/shared/access/access.js';
import { encodeVector, type VectorSet } from '../../src/shared/data-set/stored-vectors.js';
import type { Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { packTerms } from '../../src/index/scoring/packed-terms.js';
import { eachAtOnce } from '../support/client.js';
import { makeContent, makeDocument } from '../../test/support/documents.js';
import type { Vectors } from './embed-cached.js';
import type { ReaderName } from './readers.js';

const CHUNKS_A_DOCUMENT = 20;
const AT_ONCE = 16;

/** Each chunk has its vector in both types, so that indexes of both are made of the same hashes. */
export const SETS = {
  float32: { field: 'vector', type: 'float32' },
  float16: { field: 'vector16', type: 'float16' },
} as const satisfies Record<string, VectorSet>;

const documentOf = (row: number) =>
  `00000000-0000-4000-8000-${String(Math.floor(row / CHUNKS_A_DOCUMENT)).padStart(12, '0')}`;

/** The row that a found chunk was made of. */
export const rowOf = ({
  documentId,
  number,
}: {
  readonly documentId: string;
  readonly number: number;
}): number => Number(documentId.slice(-12)) * CHUNKS_A_DOCUMENT + number;

/** Writes what both engines read of documents: records, and chunks with vectors and tags of those who may read them. */
export async function fill(
  redis: Redis,
  {
    vectors,
    count,
    readers,
  }: {
    readonly vectors: Vectors;
    readonly count: number;
    readonly readers: ReadonlyMap<ReaderName, ReadonlySet<number>>;
  },
): Promise<void> {
  const terms = Buffer.from(packTerms({ length: 0, counts: new Map() }));
  const tagsOf = (row: number) =>
    [...readers]
      .filter(([, rows]) => rows.has(row))
      .map(([name]) => readerTag(name))
      .join(',');
  const writeChunk = async (row: number, generation: string, number: number) => {
    const vector = vectors.at(row);
    const fields = Object.values(SETS).map(({ field, type }): [string, Buffer] => [
      field,
      encodeVector(vector, type),
    ]);
    const all: [string, string | Buffer][] = [
      ['tags', tagsOf(row)],
      ['generation', generation],
      ['terms', terms],
      ...fields,
    ];
    await redis.hSet(keys.chunk(generation, number), all);
  };
  const documents = Array.from(
    { length: Math.ceil(count / CHUNKS_A_DOCUMENT) },
    (_, at) => at * CHUNKS_A_DOCUMENT,
  );
  await eachAtOnce(documents, AT_ONCE, async (start) => {
    const rows = Array.from(
      { length: Math.min(CHUNKS_A_DOCUMENT, count - start) },
      (_, number) => start + number,
    );
    const id = documentOf(start);
    const generation = `${id}.1.1`;
    await Promise.all(rows.map((row, number) => writeChunk(row, generation, number)));
    await writeRecord(redis, { id, generation, chunkCount: rows.length });
  });
  await redis.set(keys.sequence, String(count));
}

async function writeRecord(
  redis: Redis,
  {
    id,
    generation,
    chunkCount,
  }: { readonly id: string; readonly generation: string; readonly chunkCount: number },
): Promise<void> {
  const published = makeContent({ generation, chunkCount });
  const record = makeDocument({ id, ownerId: 'all', published, pending: null });
  const fields = Object.entries(record).map(([name, value]): [string, string] => [
    name,
    JSON.stringify(value),
  ]);
  await redis.hSet(keys.document(id), fields);
  await redis.zAdd(keys.changes, { value: id, score: Number(id.slice(-12)) + 1 });
}
