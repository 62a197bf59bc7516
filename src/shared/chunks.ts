import { RESP_TYPES } from 'redis';
import {
  embeddedField,
  storedChunk,
  STORED_FIELDS,
  taggedValue,
  tagsName,
  textFields,
  vectorFields,
  type ChunkAddress,
  type ChunkVector,
  type StoredChunk,
  type TextBatch,
  type WholeChunk,
} from './chunk-fields.js';
import { BATCH_SIZE, inGroups } from './batches.js';
import { createChunkRemoval } from './chunk-removal.js';
import {
  closeScript,
  countedScript,
  finishScript,
  wholeScript,
  writeScript,
  writeTagsScript,
  writeTextsScript,
} from './chunk-scripts.js';
import { countFields, stepArguments } from './count-scripts.js';
import { keys } from './keys.js';
import type { Redis } from './redis.js';
import { settleStep, sumTerms } from './term-parts.js';
import { decodeVector, FIRST_VECTORS, type VectorSet } from './vectors.js';

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

/**
 * `refused`: the generation was discarded. `overtaken`: the record is no longer at the revision that was asked for, or
 * what was written before is not there.
 */
export type Write = 'written' | 'refused' | 'overtaken';

/** What tags were made of. */
export interface RecordState {
  readonly documentId: string;
  readonly revision: number;
}

export type Chunks = ReturnType<typeof createChunks>;

/** The chunk hashes in Redis. Writes into a generation that was discarded change nothing and answer false. */
export function createChunks(redis: Redis, vectors: VectorSet = FIRST_VECTORS) {
  const binary = redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });

  /** A batch's mark and their number. Each set of vectors has its own: what is embedded for another is not for this one. */
  const finishedFields = (batch: number) => [
    embeddedField(vectors, `:${String(batch)}`),
    embeddedField(vectors),
  ];

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
    /** In a row from 0, with tags of the record at `revision`. */
    writeTexts: async ({ first, chunks, ...batch }: TextBatch, revision: number): Promise<Write> => {
      const rows = chunks.map((chunk, i) => textFields(batch, { ...chunk, number: first + i }));
      const done = await writeTextsScript.run(redis, {
        keys: [
          ...[keys.generation(batch.generation), keys.document(batch.documentId)],
          ...chunks.map((_, i) => keys.chunk(batch.generation, first + i)),
        ],
        arguments: [
          ...[String(revision), String(first), tagsName(batch.tags)],
          ...rows.flatMap((fields) => [String(fields.length), ...fields]),
        ],
      });
      return outcomeOf(done);
    },

    /**
     * Writes a generation's only batch with its vectors, counted, embedded and closed, if the document's record is at
     * `revision`; answers whether it is. The generation is hidden until it is published. Its terms must fit one step.
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
          ...[...finishedFields(0), taggedValue(batch.tags, chunks.length)],
          ...counting({ batch: 0, chunks, owner }),
          ...rows.flatMap((fields) => [String(fields.length), ...fields]),
        ],
      });
      return written === 1;
    },

    /** Writes what embedding makes of a batch; the step that writes the last of it begins to count its terms. */
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

    /** How many chunks, from 0 on, have these tags. */
    taggedUpTo: async (generation: string, tags: string): Promise<number> => {
      const [name, count] = ((await redis.hGet(keys.generation(generation), 'tagged')) ?? '').split(':');
      return name === tagsName(tags) ? Number(count) : 0;
    },

    /**
     * Tags of the record in a state that it must still be in, to chunks in a row that come after others with them. One
     * small script after the other: an engine indexes each vector anew, and searches must get their turns.
     */
    writeTags: async (
      generation: string,
      { numbers, tags, of }: { numbers: readonly number[]; tags: string; of: RecordState },
    ): Promise<Write> => {
      for (const group of inGroups(numbers)) {
        const done = await writeTagsScript.run(redis, {
          keys: [
            ...[keys.generation(generation), keys.document(of.documentId)],
            ...group.map((number) => keys.chunk(generation, number)),
          ],
          arguments: [String(of.revision), tags, tagsName(tags), String(group[0] ?? 0)],
        });
        if (done !== 1) return outcomeOf(done);
      }
      return 'written';
    },

    /** Sets how many chunks the generation has, once all their texts are written. */
    close: async (generation: string, counts: { chunks: number; tokens: number }): Promise<boolean> => {
      const done = await closeScript.run(redis, {
        keys: [keys.generation(generation)],
        arguments: [String(counts.chunks), String(counts.tokens)],
      });
      return done === 1;
    },

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

    /** Packed terms of the chunks; none at all unless all have them. */
    readTerms: async (
      generation: string,
      numbers: readonly number[],
    ): Promise<{ number: number; terms: Uint8Array }[]> => {
      const rows = await Promise.all(numbers.map((n) => binary.hGet(keys.chunk(generation, n), 'terms')));
      const found = numbers.flatMap((number, i) => {
        const terms = rows[i];
        return terms instanceof Buffer ? [{ number, terms }] : [];
      });
      return found.length === numbers.length ? found : [];
    },

    /** Takes the vectors of a set that nothing uses any more out of the hashes. */
    removeVectors: async (generation: string, numbers: readonly number[]): Promise<void> => {
      await Promise.all(numbers.map((number) => redis.hDel(keys.chunk(generation, number), vectors.field)));
    },

    /**
     * Marks a batch as embedded, if its vectors are there and it is settled whose statistics hold it; answers how many
     * batches still are not, or null for a discarded generation.
     */
    finishBatch: async (
      generation: string,
      { batch, of }: { batch: number; of: number },
    ): Promise<number | null> => {
      const done = await finishScript.run(redis, {
        keys: [keys.generation(generation), keys.chunk(generation, batch * BATCH_SIZE)],
        arguments: [...finishedFields(batch), vectors.field, ...countFields(batch)],
      });
      return done < 0 ? null : of - done;
    },

    isFinished: async (generation: string, batch: number): Promise<boolean> =>
      (await redis.hExists(keys.generation(generation), finishedFields(batch)[0] ?? '')) === 1,

    ...createChunkRemoval(redis),
  };
}

const outcomeOf = (done: number): Write => (done === 1 ? 'written' : done === -1 ? 'refused' : 'overtaken');

/** How many arguments are the first part of the count, and those. */
function counting({ batch, chunks, owner }: EmbeddedBatch): string[] {
  const step = settleStep(sumTerms(chunks.map((each) => each.terms)), { kind: 'none' }, owner);
  const counted = step ? stepArguments(batch, step) : [];
  return [String(counted.length), ...counted];
}
