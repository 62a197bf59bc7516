import { BATCH_SIZE, inGroups } from '../batches.js';
import type { VectorSet } from '../data-set/stored-vectors.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { settleStep, sumTerms, type BatchTerms } from '../term-statistics/parts.js';
import { countFields, stepArguments } from '../term-statistics/scripts.js';
import {
  embeddedFields,
  inPartsField,
  vectorFields,
  withLengths,
  type ChunkVector,
  type EmbeddedChunk,
} from './fields.js';
import { countedScript, finishScript, noteInPartsScript, writeScript } from './scripts.js';

/** The place where vectors are written. Each set of vectors has its own fields in the same hashes. */
export interface VectorStore {
  readonly redis: Redis;
  readonly vectors: VectorSet;
}

/** The chunks of a batch with their vectors and terms. */
export interface EmbeddedBatch {
  readonly batch: number;
  readonly chunks: readonly EmbeddedChunk[];
  /** The owner whose term statistics count the chunks; null for nobody's. */
  readonly owner: string | null;
  /** The mark of the file's name that the terms hold; see `nameMark`. */
  readonly named: string;
}

/** @throws when the file was renamed meanwhile, so that the terms are to be made anew */
export async function writeEmbedded(
  store: VectorStore,
  generation: string,
  batch: EmbeddedBatch,
): Promise<boolean> {
  const { redis, vectors } = store;
  const groups = inGroups(batch.chunks);
  const others = groups.slice(0, -1);
  const last = groups.at(-1) ?? [];
  const write = { named: batch.named };
  for (const group of others) if (!(await writeGroup(store, generation, { group, ...write }))) return false;
  const written = await countedScript.run(redis, {
    keys: [
      keys.generation(generation),
      keys.statistics(batch.owner),
      ...batch.chunks.map(({ number }) => keys.chunk(generation, number)),
    ],
    arguments: [
      vectors.field,
      String(batch.chunks.length - last.length),
      batch.named,
      ...counting({ ...batch, terms: sumTerms(batch.chunks.map(({ terms }) => terms)) }),
      ...withLengths(last.map((chunk) => rowOf(chunk, vectors, batch.named))),
    ],
  });
  return isWritten(written);
}

export async function writeVectors(
  store: VectorStore,
  generation: string,
  chunks: readonly ChunkVector[],
): Promise<boolean> {
  for (const group of inGroups(chunks))
    if (!(await writeGroup(store, generation, { group, named: ANY_NAME }))) return false;
  return true;
}

async function writeGroup(
  { redis, vectors }: VectorStore,
  generation: string,
  { group, named }: { readonly group: readonly ChunkVector[]; readonly named: string },
): Promise<boolean> {
  const written = await writeScript.run(redis, {
    keys: [keys.generation(generation), ...group.map(({ number }) => keys.chunk(generation, number))],
    arguments: [named, ...withLengths(group.map((chunk) => rowOf(chunk, vectors, named)))],
  });
  return isWritten(written);
}

/** Vectors say nothing of names, and may be written whatever the name is. */
const ANY_NAME = '*';

/** The fields of a chunk that embedding adds, with the mark of the name that its terms hold. */
function rowOf(chunk: ChunkVector, vectors: VectorSet, named: string): (string | Buffer)[] {
  const fields = vectorFields(chunk, vectors);
  return named === '' || named === ANY_NAME ? fields : [...fields, 'named', named];
}

function isWritten(done: number): boolean {
  if (done === -2) throw new Error('the file was renamed while its chunks were embedded');
  return done === 1;
}

export async function removeVectors(
  { redis, vectors }: VectorStore,
  generation: string,
  numbers: readonly number[],
): Promise<void> {
  const fields = [vectors.field, inPartsField(vectors)];
  await Promise.all(numbers.map((number) => redis.hDel(keys.chunk(generation, number), fields)));
}

export async function noteInParts(redis: Redis, generation: string): Promise<void> {
  await noteInPartsScript.run(redis, { keys: [keys.generation(generation)], arguments: [] });
}

export async function finishBatch(
  { redis, vectors }: VectorStore,
  generation: string,
  { batch, of }: { batch: number; of: number },
): Promise<number | null> {
  const done = await finishScript.run(redis, {
    keys: [keys.generation(generation), keys.chunk(generation, batch * BATCH_SIZE)],
    arguments: [...embeddedFields(vectors, batch), vectors.field, ...countFields(batch)],
  });
  return done < 0 ? null : of - done;
}

export async function isFinished(
  { redis, vectors }: VectorStore,
  generation: string,
  batch: number,
): Promise<boolean> {
  const [mark] = embeddedFields(vectors, batch);
  return (await redis.hExists(keys.generation(generation), mark)) === 1;
}

/** The arguments that start to count a batch, preceded by their number. */
export function counting({
  batch,
  terms,
  owner,
}: Pick<EmbeddedBatch, 'batch' | 'owner'> & { readonly terms: BatchTerms }): string[] {
  const step = settleStep(terms, { kind: 'none' }, owner);
  const counted = step ? stepArguments(batch, step) : [];
  return [String(counted.length), ...counted];
}
