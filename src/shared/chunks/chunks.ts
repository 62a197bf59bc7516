import type { Receipt } from '../../readers/index.js';
import { at } from '../at.js';
import { batchCount, batchNumbers, BATCH_SIZE, inGroups } from '../batches.js';
import { FIRST_VECTORS, type VectorSet } from '../data-set/stored-vectors.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { countFieldsOf } from '../term-statistics/count-steps.js';
import type { ChunkAddress, ChunkMarks, ChunkVector, StoredChunk, TextBatch } from './fields.js';
import {
  binaryClient,
  readGeneration,
  readHashes,
  readInParts,
  readReceipt,
  readTerms,
  readTexts,
  readVectors,
  type ChunkTerms,
  type GenerationCounts,
  type GenerationEnd,
} from './read-chunks.js';
import { readOtherNames, type OtherNames } from './rename-chunks.js';
import { cleanedScript, forgetScript, unlinkScript } from './scripts.js';
import {
  finishBatch,
  isFinished,
  noteInParts,
  removeVectors,
  writeEmbedded,
  writeVectors,
  closeTexts,
  taggedUpTo,
  writeTags,
  writeTexts,
  type EmbeddedBatch,
  type TagBatch,
  type Write,
} from './write-chunks.js';

/** The chunk hashes in Redis. Writes into a discarded generation change nothing and answer false. */
export interface Chunks {
  /** Writes the texts of consecutive chunks, the first batch from 0 on, with the tags of the record at `revision`. */
  readonly writeTexts: (batch: TextBatch, revision: number) => Promise<Write>;
  /** Gives chunks the tags of a record that must still be in the same state. The chunks before them must have these tags. */
  readonly writeTags: (generation: string, batch: TagBatch) => Promise<Write>;
  /** Returns the number of chunks in a row, from 0 on, that have these tags and are found by this name of their file. */
  readonly taggedUpTo: (generation: string, marks: ChunkMarks) => Promise<number>;
  /** The chunks among these that hold the terms of another name, and who counts them; null without any. All are of one batch. */
  readonly readOtherNames: (
    generation: string,
    asked: { readonly numbers: readonly number[]; readonly named: string },
  ) => Promise<OtherNames | null>;
  /** Sets the counts of a generation once all its texts are written. */
  readonly close: (generation: string, end: GenerationEnd) => Promise<boolean>;
  /** Returns the receipt of the source; null for a generation without one, such as a short text's. */
  readonly receipt: (generation: string) => Promise<Receipt | null>;

  /** Writes the vectors and terms of a batch. The step that writes the last of them also begins to count the terms. */
  readonly writeEmbedded: (generation: string, batch: EmbeddedBatch) => Promise<boolean>;
  /** Notes that texts were embedded in parts, which the receipt then says. */
  readonly noteInParts: (generation: string) => Promise<void>;
  readonly writeVectors: (generation: string, chunks: readonly ChunkVector[]) => Promise<boolean>;
  /** Removes the vectors of a set that nothing uses any more from the hashes. */
  readonly removeVectors: (generation: string, numbers: readonly number[]) => Promise<void>;
  /**
   * Marks a batch as embedded, when its vectors are there and its term statistics are settled. Answers how many
   * batches are still missing, or null for a discarded generation.
   */
  readonly finishBatch: (generation: string, batch: { batch: number; of: number }) => Promise<number | null>;
  readonly isFinished: (generation: string, batch: number) => Promise<boolean>;

  /** The counts of a generation, 0 until it is closed; null when it does not exist. */
  readonly generation: (generation: string) => Promise<GenerationCounts | null>;
  /** Returns texts of chunks `first` to `first + count - 1`, without missing ones. */
  readonly readTexts: (generation: string, first: number, count: number) => Promise<StoredChunk[]>;
  /** The chunks of a generation by the digest of their texts. */
  readonly readHashes: (generation: string, count: number) => Promise<Map<string, ChunkAddress>>;
  readonly readVectors: (addresses: readonly ChunkAddress[]) => Promise<(Float32Array | null)[]>;
  /** Tells for each vector whether it is the mean of the vectors of parts, since its text is longer than the model reads. */
  readonly readInParts: (addresses: readonly ChunkAddress[]) => Promise<boolean[]>;
  /** Packed terms of the chunks, or an empty list unless all chunks have them. */
  readonly readTerms: (generation: string, numbers: readonly number[]) => Promise<ChunkTerms[]>;

  readonly cleaning: (generation: string) => Promise<Cleaning>;
  /**
   * Unlinks chunks of a generation that is being cleaned away, except chunks whose terms somebody's statistics still hold.
   * The generation notes how far this has come, so that neither a process that dies nor a Redis that comes back with older
   * data leaves anything behind.
   * @returns the number of unlinked chunks, or null when the generation is not to be cleaned away any more
   */
  readonly unlink: (generation: string, numbers: readonly number[]) => Promise<number | null>;
  /** Notes that the next batch is cleaned away; false when it is not, or when another batch is the next. */
  readonly noteCleaned: (generation: string, batch: number) => Promise<boolean>;
  /** Removes the last trace of a generation when this many batches are noted as cleaned away; false when they are not. */
  readonly forget: (generation: string, cleaned: number) => Promise<boolean>;
}

export function createChunks(redis: Redis, vectors: VectorSet = FIRST_VECTORS): Chunks {
  const store = { redis, vectors };
  const binary = binaryClient(redis);
  return {
    writeTexts: (batch, revision) => writeTexts(redis, batch, revision),
    writeTags: (generation, batch) => writeTags(redis, generation, batch),
    taggedUpTo: (generation, marks) => taggedUpTo(redis, generation, marks),
    readOtherNames: (generation, asked) => readOtherNames(binary, generation, asked),
    close: (generation, end) => closeTexts(redis, generation, end),
    receipt: (generation) => readReceipt(redis, generation),

    writeEmbedded: (generation, batch) => writeEmbedded(store, generation, batch),
    noteInParts: (generation) => noteInParts(redis, generation),
    writeVectors: (generation, chunks) => writeVectors(store, generation, chunks),
    removeVectors: (generation, numbers) => removeVectors(store, generation, numbers),
    finishBatch: (generation, batch) => finishBatch(store, generation, batch),
    isFinished: (generation, batch) => isFinished(store, generation, batch),

    generation: (generation) => readGeneration(redis, generation),
    readTexts: (generation, first, count) => readTexts(redis, generation, { first, count }),
    readHashes: (generation, count) => readHashes(redis, generation, count),
    readVectors: (addresses) => readVectors(binary, vectors, addresses),
    readInParts: (addresses) => readInParts(redis, vectors, addresses),
    readTerms: (generation, numbers) => readTerms(binary, generation, numbers),

    cleaning: (generation) => readCleaning(redis, generation),
    unlink: (generation, numbers) => unlinkChunks(redis, generation, numbers),
    noteCleaned: (generation, batch) => noteCleaned(redis, generation, batch),
    forget: (generation, cleaned) => forgetGeneration(redis, generation, cleaned),
  };
}

interface Cleaning {
  /** The number of batches of the generation that are cleaned away. */
  readonly cleaned: number;
  /** The least number of batches. */
  readonly batches: number;
  readonly chunks: number;
}

async function readCleaning(redis: Redis, generation: string): Promise<Cleaning> {
  const names = ['cleaned', 'written', 'chunks'];
  // A missing field stands for 0.
  const values = (await redis.hmGet(keys.generation(generation), names)).map(Number);
  const [cleaned, written, chunks] = [at(values, 0), at(values, 1), at(values, 2)];
  return { cleaned, chunks, batches: batchCount(Math.max(written, chunks)) };
}

async function unlinkChunks(
  redis: Redis,
  generation: string,
  numbers: readonly number[],
): Promise<number | null> {
  let removed = 0;
  for (const group of inGroups(numbers)) {
    const done = await unlinkScript.run(redis, {
      keys: {
        garbage: keys.garbage,
        generation: keys.generation(generation),
        chunks: group.map((number) => keys.chunk(generation, number)),
      },
      args: { id: generation, ...countFieldsOf(Math.floor(at(group, 0) / BATCH_SIZE)) },
    });
    if (done === -1) return null;
    removed += Math.max(0, done);
  }
  return removed;
}

async function noteCleaned(redis: Redis, generation: string, batch: number): Promise<boolean> {
  const numbers = batchNumbers(batch, (batch + 1) * BATCH_SIZE);
  const done = await cleanedScript.run(redis, {
    keys: {
      garbage: keys.garbage,
      generation: keys.generation(generation),
      chunks: numbers.map((number) => keys.chunk(generation, number)),
    },
    args: { id: generation, batch, ...countFieldsOf(batch) },
  });
  return done === 1;
}

async function forgetGeneration(redis: Redis, generation: string, cleaned: number): Promise<boolean> {
  const done = await forgetScript.run(redis, {
    keys: { garbage: keys.garbage, generation: keys.generation(generation), hidden: keys.hidden },
    args: { id: generation, cleaned },
  });
  return done === 1;
}
