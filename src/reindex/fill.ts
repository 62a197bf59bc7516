import { at } from '../shared/at.js';
import { BATCH_SIZE, batchCount, batchNumbers } from '../shared/batches.js';
import type { Chunks } from '../shared/chunks/chunks.js';
import type { ChunkVector } from '../shared/chunks/fields.js';
import { namingOf, searchedTerms, searchedText, type Naming } from '../shared/chunks/searched-text.js';
import type { Records } from '../shared/documents/records.js';
import { statisticsOwner } from '../shared/documents/transitions.js';
import type { Embedding } from '../shared/models/embedding.js';
import type { Redis } from '../shared/redis/client.js';
import { keys } from '../shared/redis/keys.js';
import type { TermStatisticsStore } from '../shared/term-statistics/term-statistics.js';
import type { Plan } from './plan.js';

/** Documents that get vectors at the same time; their texts share the requests to a provider. */
const AT_ONCE = 16;

export interface FillParts {
  readonly redis: Redis;
  readonly records: Pick<Records, 'readMany'>;
  /** The chunks with the vectors that are in use (`serving`) and with the new ones (`coming`). */
  readonly serving: Chunks;
  readonly coming: Chunks;
  readonly embedding: Embedding;
  readonly source: Plan['source'];
  /** Null when the chunks keep their terms. */
  readonly newTerms: NewTerms | null;
  /** @throws when a vector has another length than the first */
  readonly checkDimensions: (dimensions: number) => void;
}

export interface Page {
  readonly documents: number;
  readonly chunks: number;
  /** Sequence number of the last change in the page; null for an empty page. */
  readonly last: number | null;
}

/** Writes the new vectors of published chunks, for one page of the documents that changed after `since`. */
export async function fillPage(parts: FillParts, since: number, signal: AbortSignal): Promise<Page> {
  const page = await parts.redis.zRangeWithScores(keys.changes, `(${String(since)}`, '+inf', {
    BY: 'SCORE',
    LIMIT: { offset: 0, count: AT_ONCE },
  });
  const counts = await Promise.all(page.map(({ value }) => fillDocument(parts, value, signal)));
  return {
    documents: page.length,
    chunks: counts.reduce((sum, count) => sum + count, 0),
    last: page.at(-1)?.score ?? null,
  };
}

/** Writes the vectors that are missing. @returns the number of chunks that got one */
async function fillDocument(parts: FillParts, id: string, signal: AbortSignal): Promise<number> {
  // Null for a malformed record, too, which must not end the run.
  const [record] = await parts.records.readMany([id]);
  const { generation = null, chunkCount = 0 } = record?.published ?? {};
  if (generation === null) return 0;
  let filled = 0;
  for (let batch = 0; batch < batchCount(chunkCount); batch += 1) {
    signal.throwIfAborted();
    const numbers = batchNumbers(batch, chunkCount);
    const there = await parts.coming.readVectors(numbers.map((number) => ({ generation, number })));
    const missing = numbers.filter((_, i) => !there[i]);
    if (missing.length > 0) {
      const naming = namingOf(record?.published ?? null);
      const rows = await makeVectors(parts, { generation, naming, numbers: missing }, signal);
      for (const { vector } of rows) parts.checkDimensions(vector.length);
      // Only now, since embedding may take long and a worker that counts the old terms meanwhile would leave them counted.
      if (parts.newTerms) await forgetTerms(parts.newTerms, { documentId: id, generation, batch, numbers });
      // False for a generation that was discarded in the meantime. Its successor comes later as another change.
      if (await parts.coming.writeVectors(generation, rows)) filled += rows.length;
    }
    if (parts.newTerms) await countTerms(parts.newTerms, { documentId: id, generation, batch, numbers });
  }
  return filled;
}

interface Wanted {
  readonly generation: string;
  readonly naming: Naming;
  readonly numbers: readonly number[];
}

async function makeVectors(parts: FillParts, wanted: Wanted, signal: AbortSignal): Promise<ChunkVector[]> {
  const { serving, source, newTerms } = parts;
  const { generation, naming, numbers } = wanted;
  if (source === 'converted' && !newTerms) return convertVectors(parts, wanted);
  const texts = await serving.readTexts(generation, at(numbers, 0), BATCH_SIZE);
  const chunks = texts.filter(({ number }) => numbers.includes(number));
  if (chunks.length === 0) return [];
  const found = { ...wanted, numbers: chunks.map(({ number }) => number) };
  const embed = () =>
    parts.embedding.embedDocuments(
      chunks.map((chunk) => searchedText(chunk, naming.title)),
      { signal },
    );
  const rows =
    source === 'converted' ? await convertVectors(parts, found) : pairs(found.numbers, await embed());
  if (!newTerms) return rows;
  const terms = new Map(chunks.map((chunk) => [chunk.number, searchedTerms(chunk, naming)]));
  return rows.flatMap((row) => {
    const made = terms.get(row.number);
    return made ? [{ ...row, terms: made }] : [];
  });
}

async function convertVectors(
  { serving }: FillParts,
  { generation, numbers }: Wanted,
): Promise<ChunkVector[]> {
  const addresses = numbers.map((number) => ({ generation, number }));
  const vectors = await serving.readVectors(addresses);
  return pairs(numbers, { vectors, inParts: await serving.readInParts(addresses) });
}

interface Vectors {
  readonly vectors: readonly (Float32Array | null)[];
  readonly inParts: readonly boolean[];
}

function pairs(numbers: readonly number[], { vectors, inParts }: Vectors): ChunkVector[] {
  return numbers.flatMap((number, i) => {
    const vector = vectors[i];
    return vector ? [{ number, vector, inParts: inParts[i] === true }] : [];
  });
}

/*
 * A chunk's terms are replaced together with its vectors, and the statistics of its owner hold the old terms: they are
 * forgotten before, and the new ones are counted after. An interrupted run finds for each batch how far it came: it forgets
 * no terms twice, and counted terms stay.
 */

interface NewTerms {
  readonly records: Pick<Records, 'readMany'>;
  readonly chunks: Pick<Chunks, 'readTerms'>;
  readonly statistics: Pick<TermStatisticsStore, 'settle'>;
}

interface Batch {
  readonly documentId: string;
  readonly generation: string;
  readonly batch: number;
  readonly numbers: readonly number[];
}

/** Takes the terms that the chunks have from the statistics that hold them. */
const forgetTerms = (parts: NewTerms, batch: Batch): Promise<void> =>
  settle(parts, batch, { isForgotten: true });

/** Counts the terms that the chunks have in the statistics of the document's owner. */
const countTerms = (parts: NewTerms, batch: Batch): Promise<void> =>
  settle(parts, batch, { isForgotten: false });

async function settle(
  { records, chunks, statistics }: NewTerms,
  { documentId, generation, batch, numbers }: Batch,
  { isForgotten }: { readonly isForgotten: boolean },
): Promise<void> {
  for (;;) {
    const [record] = await records.readMany([documentId]);
    if (!record) return;
    const rows = await chunks.readTerms(generation, numbers);
    if (rows.length === 0) return;
    const owner = isForgotten ? null : statisticsOwner(record);
    const wanted = { documentId, revision: record.revision, owner };
    if ((await statistics.settle({ generation, batch, chunks: rows }, wanted)) !== 'overtaken') return;
  }
}
