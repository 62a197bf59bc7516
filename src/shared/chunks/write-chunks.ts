import { at } from '../at.js';
import { inGroups, BATCH_SIZE } from '../batches.js';
import type { VectorSet } from '../data-set/stored-vectors.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import {
  settleStep,
  sumTerms,
  countFieldsOf,
  stepArguments,
  type BatchTerms,
  type StepArguments,
} from '../term-statistics/count-steps.js';
import {
  marksName,
  textFields,
  embeddedFields,
  inPartsField,
  vectorFields,
  markedValue,
  type ChunkMarks,
  type TextBatch,
  type ChunkVector,
  type EmbeddedChunk,
  type WholeChunk,
} from './fields.js';
import type { GenerationEnd } from './read-chunks.js';
import { renameGroup, type Renaming } from './rename-chunks.js';
import {
  closeScript,
  writeTagsScript,
  writeTextsScript,
  countedScript,
  finishScript,
  noteInPartsScript,
  writeScript,
} from './scripts.js';
import { packReceipt } from './stored-receipt.js';

/**
 * `refused` means that the generation was discarded. `overtaken` means that the record is no longer
 * at the given revision, or that earlier writes are missing.
 */
export type Write = 'written' | 'refused' | 'overtaken';

/** The state of the record that tags were made of. */
export interface RecordState {
  readonly documentId: string;
  readonly revision: number;
}

/**
 * Tags for consecutive chunks, made of a record in the state `of`, with the terms of chunks whose file has another name
 * now.
 */
export interface TagBatch extends ChunkMarks {
  readonly numbers: readonly number[];
  readonly of: RecordState;
  /** Null where no chunk has to be renamed; it is for chunks of one batch. */
  readonly renaming?: Renaming | null;
}

export async function writeTexts(
  redis: Redis,
  { first, chunks, ...batch }: TextBatch,
  revision: number,
): Promise<Write> {
  const rows = chunks.map((chunk, i) => textFields(batch, { ...chunk, number: first + i }));
  const done = await writeTextsScript.run(redis, {
    keys: {
      generation: keys.generation(batch.generation),
      record: keys.document(batch.documentId),
      chunks: chunks.map((_, i) => keys.chunk(batch.generation, first + i)),
    },
    args: { revision, from: first, tagsName: marksName(batch), rows },
  });
  return outcomeOf(done);
}

/** Writes tags in many small scripts, since an engine indexes each vector anew and searches must get their turns. */
export async function writeTags(
  redis: Redis,
  generation: string,
  { numbers, of, renaming = null, ...marks }: TagBatch,
): Promise<Write> {
  const writeTagsOf = (group: readonly number[]) =>
    writeTagsScript.run(redis, {
      keys: {
        generation: keys.generation(generation),
        record: keys.document(of.documentId),
        chunks: group.map((number) => keys.chunk(generation, number)),
      },
      args: { revision: of.revision, tags: marks.tags, tagsName: marksName(marks), from: at(group, 0) },
    });
  for (const group of inGroups(numbers)) {
    const done = renaming
      ? await renameGroup(redis, generation, { group, of, renaming, marks })
      : await writeTagsOf(group);
    if (done !== 1) return outcomeOf(done);
  }
  return 'written';
}

export async function taggedUpTo(redis: Redis, generation: string, marks: ChunkMarks): Promise<number> {
  const tagged = await redis.hGet(keys.generation(generation), 'tagged');
  // A generation without chunks, or one that has lost its tags, does not have the field.
  if (tagged === null) return 0;
  const [name, count] = tagged.split(':');
  return name === marksName(marks) ? Number(count) : 0;
}

export async function closeTexts(
  redis: Redis,
  generation: string,
  { chunks, tokens, receipt }: GenerationEnd,
): Promise<boolean> {
  const done = await closeScript.run(redis, {
    keys: { generation: keys.generation(generation) },
    args: {
      chunks,
      fields: [
        'chunks',
        String(chunks),
        'tokens',
        String(tokens),
        ...(receipt ? ['receipt', packReceipt(receipt)] : []),
      ],
    },
  });
  return done === 1;
}

const outcomeOf = (done: number): Write => (done === 1 ? 'written' : done === -1 ? 'refused' : 'overtaken');

/** The place where vectors are written. Each set of vectors has its own fields in the same hashes. */
interface VectorStore {
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
    keys: {
      generation: keys.generation(generation),
      statistics: keys.statistics(batch.owner),
      chunks: batch.chunks.map(({ number }) => keys.chunk(generation, number)),
    },
    args: {
      vectorField: vectors.field,
      others: batch.chunks.length - last.length,
      named: batch.named,
      ...counting({ ...batch, terms: sumTerms(batch.chunks.map(({ terms }) => terms)) }),
      rows: last.map((chunk) => rowOf(chunk, vectors, batch.named)),
    },
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
    keys: {
      generation: keys.generation(generation),
      chunks: group.map(({ number }) => keys.chunk(generation, number)),
    },
    args: { named, rows: group.map((chunk) => rowOf(chunk, vectors, named)) },
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
  await noteInPartsScript.run(redis, { keys: { generation: keys.generation(generation) }, args: {} });
}

export async function finishBatch(
  { redis, vectors }: VectorStore,
  generation: string,
  { batch, of }: { batch: number; of: number },
): Promise<number | null> {
  const [markField, numberField] = embeddedFields(vectors, batch);
  const done = await finishScript.run(redis, {
    keys: {
      generation: keys.generation(generation),
      firstChunk: keys.chunk(generation, batch * BATCH_SIZE),
    },
    args: { markField, numberField, vectorField: vectors.field, ...countFieldsOf(batch) },
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

/** The arguments that start to count a batch. */
function counting({
  batch,
  terms,
  owner,
}: Pick<EmbeddedBatch, 'batch' | 'owner'> & { readonly terms: BatchTerms }): StepArguments {
  const step = settleStep(terms, { kind: 'none' }, owner);
  return step ? stepArguments(batch, step) : { step: [], terms: [] };
}

/** A generation that consists of one batch. */
export interface WholeTexts extends Omit<TextBatch, 'first' | 'chunks'> {
  readonly chunks: readonly WholeChunk[];
  /** The tokens of all chunks together. */
  readonly tokens: number;
}

/** Returns the fields of a generation that is closed and embedded, and the fields of each of its chunks. */
export function wholeFields(
  vectors: VectorSet,
  { chunks, tokens, ...batch }: WholeTexts,
): { readonly fields: string[]; readonly rows: (string | Buffer)[][] } {
  const [mark, count] = embeddedFields(vectors, 0);
  const closed = ['document', batch.documentId, 'chunks', String(chunks.length), 'tokens', String(tokens)];
  const inParts = chunks.some((chunk) => chunk.inParts) ? ['in_parts', '1'] : [];
  const fields = [...closed, mark, '1', count, '1', 'tagged', markedValue(batch, chunks.length), ...inParts];
  const rows = chunks.map((chunk) => [...textFields(batch, chunk), ...vectorFields(chunk, vectors)]);
  return { fields, rows };
}
