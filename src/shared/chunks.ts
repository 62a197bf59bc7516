import { createHash } from 'node:crypto';
import { RESP_TYPES } from 'redis';
import {
  storedChunk,
  STORED_FIELDS,
  textFields,
  vectorFields,
  type ChunkAddress,
  type ChunkVector,
  type StoredChunk,
  type TextBatch,
  type WholeChunk,
} from './chunk-fields.js';
import {
  countedScript,
  finishScript,
  forgetScript,
  setScript,
  unlinkScript,
  wholeScript,
  writeScript,
} from './chunk-scripts.js';
import { countArguments } from './count-scripts.js';
import { keys } from './keys.js';
import type { Redis } from './redis.js';
import { decodeVector, FIRST_VECTORS, type VectorSet } from './vectors.js';

/** Chunks are written, embedded, counted, re-tagged and unlinked in batches of this many. */
export const BATCH_SIZE = 64;

/**
 * Chunks whose vectors go into an index, change there or leave it in one step: in an HNSW graph each takes Redis one or
 * two milliseconds.
 */
export const INDEXED_AT_ONCE = 8;

/** A generation of one batch. */
export interface WholeGeneration extends Omit<TextBatch, 'first' | 'chunks'> {
  readonly chunks: readonly WholeChunk[];
  /** Of all chunks together. */
  readonly tokens: number;
  /** Whose term statistics count the chunks. */
  readonly owner: string | null;
}

/** Chunks of a batch with what embedding makes of them. */
export interface EmbeddedBatch {
  readonly batch: number;
  readonly chunks: readonly Required<ChunkVector>[];
  /** Whose term statistics count the chunks. */
  readonly owner: string | null;
}

/** The digest by which a later attempt finds the vector of a text again. */
export function textHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

export function batchCount(chunkCount: number): number {
  return Math.ceil(chunkCount / BATCH_SIZE);
}

/** Numbers of the chunks in a batch. */
export function batchNumbers(batch: number, chunkCount: number): number[] {
  const first = batch * BATCH_SIZE;
  return Array.from({ length: Math.max(0, Math.min(BATCH_SIZE, chunkCount - first)) }, (_, i) => first + i);
}

export type Chunks = ReturnType<typeof createChunks>;

/** The chunk hashes in Redis. Writes into a generation that was discarded change nothing and answer false. */
export function createChunks(redis: Redis, vectors: VectorSet = FIRST_VECTORS) {
  const binary = redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });

  const suffix = vectors.field === FIRST_VECTORS.field ? '' : `:${vectors.field}`;
  /** A batch's mark and their number. Each set of vectors has its own: what is embedded for another is not for this one. */
  const finishedFields = (batch: number) => [`embedded:${String(batch)}${suffix}`, `embedded${suffix}`];

  const write = async (generation: string, entries: readonly (readonly [number, (string | Buffer)[]])[]) => {
    const written = await writeScript.run(redis, {
      keys: [keys.generation(generation), ...entries.map(([number]) => keys.chunk(generation, number))],
      arguments: entries.flatMap(([, fields]) => [String(fields.length), ...fields]),
    });
    return written === 1;
  };

  const writeVectors = (generation: string, chunks: readonly ChunkVector[]) =>
    write(
      generation,
      chunks.map((chunk) => [chunk.number, vectorFields(chunk, vectors)]),
    );

  return {
    writeTexts: ({ first, chunks, ...batch }: TextBatch): Promise<boolean> =>
      write(
        batch.generation,
        chunks.map((chunk, i) => [first + i, textFields(batch, { ...chunk, number: first + i })]),
      ),

    /**
     * Writes a generation's only batch with its vectors, counted, embedded and closed, if the document's record is at
     * `revision`; answers whether it is. The generation is hidden until it is published.
     */
    writeWhole: async (whole: WholeGeneration, revision: number): Promise<boolean> => {
      const { chunks, tokens, owner, ...batch } = whole;
      const { documentId, generation } = batch;
      const rows = chunks.map((chunk) => [...textFields(batch, chunk), ...vectorFields(chunk, vectors)]);
      const written = await wholeScript.run(redis, {
        keys: [
          ...[keys.document(documentId), keys.hidden, keys.generation(generation)],
          ...[keys.statistics(owner ?? ''), ...chunks.map(({ number }) => keys.chunk(generation, number))],
        ],
        arguments: [
          ...[String(revision), generation, documentId, String(chunks.length), String(tokens)],
          ...finishedFields(0),
          ...counting({ batch: 0, chunks, owner }),
          ...rows.flatMap((fields) => [String(fields.length), ...fields]),
        ],
      });
      return written === 1;
    },

    /** Writes what embedding makes of a batch, and counts its terms in the same step as the last of them. */
    writeEmbedded: async (generation: string, batch: EmbeddedBatch): Promise<boolean> => {
      const keyOf = ({ number }: ChunkVector) => keys.chunk(generation, number);
      const [last = [], ...others] = inGroups(batch.chunks).reverse();
      for (const group of others.reverse()) {
        if (!(await writeVectors(generation, group))) return false;
      }
      const rows = last.map((chunk) => vectorFields(chunk, vectors));
      const written = await countedScript.run(redis, {
        keys: [
          ...[keys.generation(generation), keys.statistics(batch.owner ?? '')],
          ...[...others.flat().map(keyOf), ...last.map(keyOf)],
        ],
        arguments: [
          ...[vectors.field, String(batch.chunks.length - last.length), ...counting(batch)],
          ...rows.flatMap((fields) => [String(fields.length), ...fields]),
        ],
      });
      return written === 1;
    },

    writeVectors: async (generation: string, chunks: readonly ChunkVector[]): Promise<boolean> => {
      for (const group of inGroups(chunks)) if (!(await writeVectors(generation, group))) return false;
      return true;
    },

    /** One small script after the other: an engine indexes each vector anew, and searches must get their turns. */
    writeTags: async (generation: string, numbers: readonly number[], tags: string): Promise<boolean> => {
      for (const group of inGroups(numbers)) {
        const written = await write(
          generation,
          group.map((number) => [number, ['tags', tags]]),
        );
        if (!written) return false;
      }
      return true;
    },

    /** Sets how many chunks the generation has, once all their texts are written. */
    close: (generation: string, counts: { chunks: number; tokens: number }): Promise<boolean> =>
      setScript
        .run(redis, {
          keys: [keys.generation(generation)],
          arguments: ['chunks', String(counts.chunks), 'tokens', String(counts.tokens)],
        })
        .then((done) => done === 1),

    /** Null when there is no such generation. Counts are 0 until it is closed. */
    generation: async (generation: string) => {
      const names = ['document', 'chunks', 'tokens'];
      const [document, chunks, tokens] = await redis.hmGet(keys.generation(generation), names);
      return document == null ? null : { chunks: Number(chunks ?? 0), tokens: Number(tokens ?? 0) };
    },

    /** Texts of chunks `first` to `first + count - 1`; those that are missing are left out. */
    readTexts: async (generation: string, first: number, count: number): Promise<StoredChunk[]> => {
      const numbers = Array.from({ length: count }, (_, i) => first + i);
      const rows = await Promise.all(
        numbers.map((n) => redis.hmGet(keys.chunk(generation, n), STORED_FIELDS)),
      );
      return rows.flatMap((row, i) => storedChunk(first + i, row) ?? []);
    },

    /** Where each text of a generation stands, by its digest. */
    readHashes: async (generation: string, count: number): Promise<Map<string, ChunkAddress>> => {
      const found = new Map<string, ChunkAddress>();
      for (let first = 0; first < count; first += 1_000) {
        const numbers = Array.from({ length: Math.min(1_000, count - first) }, (_, i) => first + i);
        const rows = await Promise.all(numbers.map((n) => redis.hGet(keys.chunk(generation, n), 'hash')));
        rows.forEach((hash, i) => {
          if (hash !== null) found.set(hash, { generation, number: first + i });
        });
      }
      return found;
    },

    readVectors: async (addresses: readonly ChunkAddress[]): Promise<(Float32Array | null)[]> => {
      const rows = await Promise.all(
        addresses.map(({ generation, number }) => binary.hGet(keys.chunk(generation, number), vectors.field)),
      );
      return rows.map((bytes) => (bytes instanceof Buffer ? decodeVector(bytes, vectors.type) : null));
    },

    readTerms: async (generation: string, numbers: readonly number[]): Promise<(Uint8Array | null)[]> => {
      const rows = await Promise.all(numbers.map((n) => binary.hGet(keys.chunk(generation, n), 'terms')));
      return rows.map((bytes) => (bytes instanceof Buffer ? bytes : null));
    },

    /** Takes the vectors of a set that nothing uses any more out of the hashes. */
    removeVectors: async (generation: string, numbers: readonly number[]): Promise<void> => {
      await Promise.all(numbers.map((number) => redis.hDel(keys.chunk(generation, number), vectors.field)));
    },

    /** Whether the generation is to be cleaned away. */
    isGarbage: async (generation: string): Promise<boolean> =>
      (await redis.sIsMember(keys.garbage, generation)) === 1,

    /**
     * Unlinks chunks of a generation that is to be cleaned away; answers how many of them there were, or null when it is
     * not: a Redis that came back with older data may serve from it again.
     */
    unlink: async (generation: string, numbers: readonly number[]): Promise<number | null> => {
      let removed = 0;
      for (const group of inGroups(numbers)) {
        const done = await unlinkScript.run(redis, {
          keys: [keys.garbage, ...group.map((number) => keys.chunk(generation, number))],
          arguments: [generation],
        });
        if (done < 0) return null;
        removed += done;
      }
      return removed;
    },

    /**
     * Marks a batch as embedded, if its vectors are there; answers how many batches still are not, or null for a
     * discarded generation.
     */
    finishBatch: async (
      generation: string,
      { batch, of }: { batch: number; of: number },
    ): Promise<number | null> => {
      const done = await finishScript.run(redis, {
        keys: [keys.generation(generation), keys.chunk(generation, batch * BATCH_SIZE)],
        arguments: [...finishedFields(batch), vectors.field],
      });
      return done < 0 ? null : of - done;
    },

    isFinished: async (generation: string, batch: number): Promise<boolean> =>
      (await redis.hExists(keys.generation(generation), finishedFields(batch)[0] ?? '')) === 1,

    /** The last trace of a generation, after its chunks are unlinked. */
    forget: async (generation: string): Promise<void> => {
      await forgetScript.run(redis, {
        keys: [keys.garbage, keys.generation(generation), keys.hidden],
        arguments: [generation],
      });
    },
  };
}

/** How many arguments are for the term statistics, and those. */
function counting({ batch, chunks, owner }: EmbeddedBatch): string[] {
  const counted =
    owner === null ? [] : countArguments({ batch, terms: chunks.map((each) => each.terms) }, owner);
  return [String(counted.length), ...counted];
}

function inGroups<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / INDEXED_AT_ONCE) }, (_, i) =>
    items.slice(i * INDEXED_AT_ONCE, (i + 1) * INDEXED_AT_ONCE),
  );
}
