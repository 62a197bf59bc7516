import { binaryClient } from '../../chunks/read-chunks.js';
import type { CallOptions, ChunkOfDocument } from '../../ports.js';
import type { Redis } from '../../redis/client.js';
import { keys } from '../../redis/keys.js';

/** Chunks whose field is asked for at a time, so that Redis is not held up. */
const CHUNKS_AT_ONCE = 100;

type Address = Pick<ChunkOfDocument, 'generation' | 'number'>;

interface Asked extends CallOptions {
  readonly chunks: readonly Address[];
  readonly field: string;
}

/** Reads a field of chunks, in their order; null for a chunk that is not there any more. Stops when the asker has gone. */
export async function readField(redis: Redis, { chunks, field, signal }: Asked): Promise<(Buffer | null)[]> {
  const binary = binaryClient(redis);
  const values: (Buffer | null)[] = [];
  for (let first = 0; first < chunks.length; first += CHUNKS_AT_ONCE) {
    signal?.throwIfAborted();
    const some = chunks.slice(first, first + CHUNKS_AT_ONCE);
    const found = await Promise.all(
      some.map(({ generation, number }) => binary.hGet(keys.chunk(generation, number), field)),
    );
    for (const bytes of found) values.push(bytes instanceof Buffer ? bytes : null);
  }
  return values;
}

/**
 * Reads a field of chunks and makes a number of its bytes.
 * @returns one number for each chunk, in their order; NaN for a chunk that is not there any more
 */
export async function measureField(
  redis: Redis,
  asked: Asked,
  measure: (bytes: Buffer) => number,
): Promise<Float64Array> {
  const values = await readField(redis, asked);
  return Float64Array.from(values, (bytes) => (bytes ? measure(bytes) : Number.NaN));
}
