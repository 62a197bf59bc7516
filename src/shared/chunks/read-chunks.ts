import { RESP_TYPES } from 'redis';
import { decodeVector, type VectorSet } from '../data-set/stored-vectors.js';
import type { Redis } from '../redis/client.js';
import { EMBEDDED_IN_PARTS, unpackReceipt } from './stored-receipt.js';
import { addGaps, type Receipt } from '../../readers/index.js';
import { keys } from '../redis/keys.js';
import {
  inPartsField,
  readNamed,
  storedChunk,
  STORED_FIELDS,
  type ChunkAddress,
  type NamedChunk,
  type StoredChunk,
} from './fields.js';

/** The hashes of this many chunks are asked for before the answers are looked at. */
const HASHES_AT_ONCE = 1_000;

/** A client whose replies are bytes. */
export const binaryClient = (redis: Redis) => redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
export type BinaryClient = ReturnType<typeof binaryClient>;

export interface GenerationCounts {
  readonly chunks: number;
  readonly tokens: number;
  /** True if texts are longer than the embedding model reads, so that their vectors are means of their parts'. */
  readonly inParts: boolean;
}

/** The counts and the receipt that a generation gets when all its texts are written. */
export interface GenerationEnd extends Omit<GenerationCounts, 'inParts'> {
  /** The receipt of the source. */
  readonly receipt?: Receipt;
}

export interface ChunkTerms extends NamedChunk {
  readonly number: number;
  readonly terms: Uint8Array;
}

export async function readGeneration(redis: Redis, generation: string): Promise<GenerationCounts | null> {
  const names = ['document', 'chunks', 'tokens', 'in_parts'];
  const [document, chunks, tokens, inParts] = await redis.hmGet(keys.generation(generation), names);
  return document == null
    ? null
    : { chunks: Number(chunks), tokens: Number(tokens), inParts: inParts === '1' };
}

/** Null for a generation that has none. */
export async function readReceipt(redis: Redis, generation: string): Promise<Receipt | null> {
  const [packed, inParts] = await redis.hmGet(keys.generation(generation), ['receipt', 'in_parts']);
  if (packed == null) return null;
  return addGaps(unpackReceipt(packed), inParts === '1' ? [EMBEDDED_IN_PARTS] : []);
}

export async function readTexts(
  redis: Redis,
  generation: string,
  { first, count }: { first: number; count: number },
): Promise<StoredChunk[]> {
  const numbers = Array.from({ length: count }, (_, i) => first + i);
  const rows = await Promise.all(numbers.map((n) => redis.hmGet(keys.chunk(generation, n), STORED_FIELDS)));
  return rows.flatMap((row, i) => storedChunk(first + i, row) ?? []);
}

export async function readHashes(
  redis: Redis,
  generation: string,
  count: number,
): Promise<Map<string, ChunkAddress>> {
  const found = new Map<string, ChunkAddress>();
  for (let first = 0; first < count; first += HASHES_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(HASHES_AT_ONCE, count - first) }, (_, i) => first + i);
    const rows = await Promise.all(numbers.map((n) => redis.hGet(keys.chunk(generation, n), 'hash')));
    rows.forEach((hash, i) => {
      if (hash !== null) found.set(hash, { generation, number: first + i });
    });
  }
  return found;
}

export async function readVectors(
  binary: BinaryClient,
  { field, type }: VectorSet,
  addresses: readonly ChunkAddress[],
): Promise<(Float32Array | null)[]> {
  const rows = await Promise.all(
    addresses.map(({ generation, number }) => binary.hGet(keys.chunk(generation, number), field)),
  );
  return rows.map((bytes) => (bytes instanceof Buffer ? decodeVector(bytes, type) : null));
}

/** Tells for each vector whether it is the mean of the vectors of parts. */
export async function readInParts(
  redis: Redis,
  vectors: VectorSet,
  addresses: readonly ChunkAddress[],
): Promise<boolean[]> {
  const field = inPartsField(vectors);
  const marks = await Promise.all(
    addresses.map(({ generation, number }) => redis.hGet(keys.chunk(generation, number), field)),
  );
  return marks.map((mark) => mark === '1');
}

export async function readTerms(
  binary: BinaryClient,
  generation: string,
  numbers: readonly number[],
): Promise<ChunkTerms[]> {
  const read = (number: number) => binary.hmGet(keys.chunk(generation, number), ['terms', 'named']);
  const rows = await Promise.all(numbers.map(read));
  const found = numbers.flatMap((number, i) => {
    const [terms, named] = rows[i] ?? [];
    return terms instanceof Buffer ? [{ number, terms, named: readNamed(named) }] : [];
  });
  return found.length === numbers.length ? found : [];
}
