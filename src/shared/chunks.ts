import { RESP_TYPES } from 'redis';
import { keys } from './keys.js';
import { defineScript, type Redis } from './redis.js';

/** Chunks are written, embedded, counted, re-tagged and unlinked in batches of this many. */
export const BATCH_SIZE = 64;

export interface ChunkText {
  readonly text: string;
  readonly tokenCount: number;
  /** Leading UTF-16 units of `text` that repeat the end of the chunk before it. */
  readonly overlap: number;
}

export interface ChunkVector {
  readonly number: number;
  readonly vector: Float32Array;
  /** Packed term counts, see `terms.ts`. */
  readonly terms: Uint8Array;
}

export interface ChunkAddress {
  readonly generation: string;
  readonly number: number;
}

export interface StoredChunk extends ChunkText {
  readonly number: number;
  /** Chunk of an earlier generation with the same text, whose vector can be taken. */
  readonly like: ChunkAddress | null;
}

export interface TextBatch {
  readonly documentId: string;
  readonly generation: string;
  readonly first: number;
  /** `hash` is the digest of the text by which a later attempt finds the vector again. */
  readonly chunks: readonly (ChunkText & { readonly hash: string; readonly like: ChunkAddress | null })[];
  readonly tags: string;
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
export function createChunks(redis: Redis) {
  const binary = redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });

  const write = async (generation: string, entries: readonly (readonly [number, (string | Buffer)[]])[]) => {
    const written = await writeScript.run(redis, {
      keys: [keys.generation(generation), ...entries.map(([number]) => keys.chunk(generation, number))],
      arguments: entries.flatMap(([, fields]) => [String(fields.length), ...fields]),
    });
    return written === 1;
  };

  return {
    writeTexts: ({ documentId, generation, first, chunks, tags }: TextBatch): Promise<boolean> =>
      write(
        generation,
        chunks.map(({ text, tokenCount, overlap, hash, like }, i) => [
          first + i,
          [
            ...[
              'document',
              documentId,
              'generation',
              generation,
              'number',
              String(first + i),
              'content',
              text,
            ],
            ...['tokens', String(tokenCount), 'overlap', String(overlap), 'hash', hash, 'tags', tags],
            ...['like', like ? `${like.generation}:${String(like.number)}` : ''],
          ],
        ]),
      ),

    writeVectors: (generation: string, chunks: readonly ChunkVector[]): Promise<boolean> =>
      write(
        generation,
        chunks.map(({ number, vector, terms }) => [
          number,
          ['vector', vectorBytes(vector), 'terms', Buffer.from(terms)],
        ]),
      ),

    writeTags: (generation: string, numbers: readonly number[], tags: string): Promise<boolean> =>
      write(
        generation,
        numbers.map((number) => [number, ['tags', tags]]),
      ),

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
      const names = ['content', 'tokens', 'overlap', 'like'];
      const rows = await Promise.all(numbers.map((n) => redis.hmGet(keys.chunk(generation, n), names)));
      return rows.flatMap(([text, tokens, overlap, like], i) =>
        text == null
          ? []
          : [
              {
                number: first + i,
                text,
                tokenCount: Number(tokens),
                overlap: Number(overlap),
                like: address(like),
              },
            ],
      );
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

    readContents: (addresses: readonly ChunkAddress[]): Promise<(string | null)[]> =>
      Promise.all(
        addresses.map(({ generation, number }) => redis.hGet(keys.chunk(generation, number), 'content')),
      ),

    readVectors: async (addresses: readonly ChunkAddress[]): Promise<(Float32Array | null)[]> => {
      const rows = await Promise.all(
        addresses.map(({ generation, number }) => binary.hGet(keys.chunk(generation, number), 'vector')),
      );
      return rows.map((bytes) => (bytes instanceof Buffer ? toVector(bytes) : null));
    },

    readTerms: async (generation: string, numbers: readonly number[]): Promise<(Uint8Array | null)[]> => {
      const rows = await Promise.all(numbers.map((n) => binary.hGet(keys.chunk(generation, n), 'terms')));
      return rows.map((bytes) => (bytes instanceof Buffer ? bytes : null));
    },

    /** @returns how many of them there were */
    unlink: (generation: string, numbers: readonly number[]): Promise<number> =>
      redis.unlink(numbers.map((number) => keys.chunk(generation, number))),

    /** Marks a batch as embedded; answers how many batches still are not, or null for a discarded generation. */
    finishBatch: async (
      generation: string,
      { batch, of }: { batch: number; of: number },
    ): Promise<number | null> => {
      const done = await finishScript.run(redis, {
        keys: [keys.generation(generation)],
        arguments: [`embedded:${String(batch)}`],
      });
      return done < 0 ? null : of - done;
    },

    /** The last trace of a generation, after its chunks are unlinked. */
    forget: async (generation: string): Promise<void> => {
      await redis
        .multi()
        .del(keys.generation(generation))
        .sRem(keys.hidden, generation)
        .sRem(keys.garbage, generation)
        .exec();
    },
  };
}

function address(like: string | null | undefined): ChunkAddress | null {
  const [generation, number] = (like ?? '').split(':');
  return generation && number !== undefined ? { generation, number: Number(number) } : null;
}

function vectorBytes(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

function toVector(bytes: Buffer): Float32Array {
  const copy = new Uint8Array(bytes);
  return new Float32Array(copy.buffer, 0, copy.byteLength / 4);
}

const GUARD = `
if redis.call('HEXISTS', KEYS[1], 'document') == 0 or redis.call('HEXISTS', KEYS[1], 'discarded') == 1 then
  return -1
end
`;

/** Before each chunk's fields comes their number. */
const writeScript = defineScript<number>(`${GUARD}
local at = 1
for i = 2, #KEYS do
  local count = tonumber(ARGV[at])
  redis.call('HSET', KEYS[i], unpack(ARGV, at + 1, at + count))
  at = at + count + 1
end
return 1
`);

const setScript = defineScript<number>(`${GUARD}
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1
`);

const finishScript = defineScript<number>(`${GUARD}
if redis.call('HSETNX', KEYS[1], ARGV[1], '1') == 1 then
  return redis.call('HINCRBY', KEYS[1], 'embedded', 1)
end
return tonumber(redis.call('HGET', KEYS[1], 'embedded'))
`);
