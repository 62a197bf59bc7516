import { FIRST_VECTORS, type VectorSet } from '../data-set/vectors.js';
import type { Redis } from '../redis/client.js';
import type { ChunkAddress, ChunkVector, StoredChunk, TextBatch } from './fields.js';
import {
  binaryClient,
  readGeneration,
  readHashes,
  readTerms,
  readTexts,
  readVectors,
  type ChunkTerms,
  type GenerationCounts,
} from './read-chunks.js';
import { forgetGeneration, noteCleaned, readCleaning, unlinkChunks, type Cleaning } from './removal.js';
import {
  finishBatch,
  isFinished,
  removeVectors,
  writeEmbedded,
  writeVectors,
  writeWhole,
  type EmbeddedBatch,
  type WholeGeneration,
} from './write-embedded.js';
import { closeTexts, taggedUpTo, writeTags, writeTexts, type TagBatch, type Write } from './write-texts.js';

/** The chunk hashes in Redis. Writes into a generation that was discarded change nothing and answer false. */
export interface Chunks {
  /** Writes texts in a row from 0, with the tags of the record at `revision`. */
  readonly writeTexts: (batch: TextBatch, revision: number) => Promise<Write>;
  /** Gives chunks the tags of a record, which must still be in the same state. Those before them must have them. */
  readonly writeTags: (generation: string, batch: TagBatch) => Promise<Write>;
  /** How many chunks, from 0 on, have these tags. */
  readonly taggedUpTo: (generation: string, tags: string) => Promise<number>;
  /** Sets how many chunks the generation has, once all their texts are written. */
  readonly close: (generation: string, counts: GenerationCounts) => Promise<boolean>;

  /**
   * Writes a generation's only batch with its vectors, counted, embedded and closed, if the document's record is at
   * `revision`; answers whether it is. The generation is hidden until it is published. Its terms must fit one step.
   */
  readonly writeWhole: (whole: WholeGeneration, revision: number) => Promise<boolean>;
  /** Writes what embedding makes of a batch; the step that writes the last of it begins to count its terms. */
  readonly writeEmbedded: (generation: string, batch: EmbeddedBatch) => Promise<boolean>;
  readonly writeVectors: (generation: string, chunks: readonly ChunkVector[]) => Promise<boolean>;
  /** Takes the vectors of a set that nothing uses any more out of the hashes. */
  readonly removeVectors: (generation: string, numbers: readonly number[]) => Promise<void>;
  /**
   * Marks a batch as embedded, if its vectors are there and it is settled whose statistics hold it; answers how many
   * batches still are not, or null for a discarded generation.
   */
  readonly finishBatch: (generation: string, batch: { batch: number; of: number }) => Promise<number | null>;
  readonly isFinished: (generation: string, batch: number) => Promise<boolean>;

  /** Null when there is no such generation. Counts are 0 until it is closed. */
  readonly generation: (generation: string) => Promise<GenerationCounts | null>;
  /** Texts of chunks `first` to `first + count - 1`; those that are missing are left out. */
  readonly readTexts: (generation: string, first: number, count: number) => Promise<StoredChunk[]>;
  /** Where each text of a generation stands, by its digest. */
  readonly readHashes: (generation: string, count: number) => Promise<Map<string, ChunkAddress>>;
  readonly readVectors: (addresses: readonly ChunkAddress[]) => Promise<(Float32Array | null)[]>;
  /** Packed terms of the chunks; none at all unless all have them. */
  readonly readTerms: (generation: string, numbers: readonly number[]) => Promise<ChunkTerms[]>;

  readonly cleaning: (generation: string) => Promise<Cleaning>;
  /**
   * Unlinks chunks of a generation that is to be cleaned away, but leaves those alone whose terms somebody's statistics
   * hold. How far this has come is noted in the generation, so that neither a process that dies nor a Redis that comes
   * back with older data leaves anything behind.
   * @returns how many were unlinked, or null when the generation is not to be cleaned away (any more)
   */
  readonly unlink: (generation: string, numbers: readonly number[]) => Promise<number | null>;
  /** Notes that the next batch is cleaned away; false where it is not, or another is the next. */
  readonly noteCleaned: (generation: string, batch: number) => Promise<boolean>;
  /** Removes the last trace of a generation whose batches, this many, are cleaned away; false where they are not. */
  readonly forget: (generation: string, cleaned: number) => Promise<boolean>;
}

export function createChunks(redis: Redis, vectors: VectorSet = FIRST_VECTORS): Chunks {
  const store = { redis, vectors };
  const binary = binaryClient(redis);
  return {
    writeTexts: (batch, revision) => writeTexts(redis, batch, revision),
    writeTags: (generation, batch) => writeTags(redis, generation, batch),
    taggedUpTo: (generation, tags) => taggedUpTo(redis, generation, tags),
    close: (generation, counts) => closeTexts(redis, generation, counts),

    writeWhole: (whole, revision) => writeWhole(store, whole, revision),
    writeEmbedded: (generation, batch) => writeEmbedded(store, generation, batch),
    writeVectors: (generation, chunks) => writeVectors(store, generation, chunks),
    removeVectors: (generation, numbers) => removeVectors(store, generation, numbers),
    finishBatch: (generation, batch) => finishBatch(store, generation, batch),
    isFinished: (generation, batch) => isFinished(store, generation, batch),

    generation: (generation) => readGeneration(redis, generation),
    readTexts: (generation, first, count) => readTexts(redis, generation, { first, count }),
    readHashes: (generation, count) => readHashes(redis, generation, count),
    readVectors: (addresses) => readVectors(binary, vectors, addresses),
    readTerms: (generation, numbers) => readTerms(binary, generation, numbers),

    cleaning: (generation) => readCleaning(redis, generation),
    unlink: (generation, numbers) => unlinkChunks(redis, generation, numbers),
    noteCleaned: (generation, batch) => noteCleaned(redis, generation, batch),
    forget: (generation, cleaned) => forgetGeneration(redis, generation, cleaned),
  };
}
