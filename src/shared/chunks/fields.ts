import { createHash } from 'node:crypto';
import { encodeVector, FIRST_VECTORS, type VectorSet } from '../data-set/vectors.js';
import { termTokens } from '../text/term-tokens.js';

export interface ChunkText {
  readonly text: string;
  readonly tokenCount: number;
  /** Leading UTF-16 units of `text` that repeat the end of the chunk before it. */
  readonly overlap: number;
}

export interface ChunkVector {
  readonly number: number;
  readonly vector: Float32Array;
  /** Packed term counts, see `terms.ts`; absent where they are there already. */
  readonly terms?: Uint8Array;
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
  readonly chunks: readonly (ChunkText & { readonly hash: string; readonly like: ChunkAddress | null })[];
  readonly tags: string;
}

/** A chunk with all that its hash holds. */
export type WholeChunk = TextBatch['chunks'][number] & Required<ChunkVector>;

/** What a chunk's hash holds before it is embedded, as names and values. */
export function textFields(
  { documentId, generation, tags }: Omit<TextBatch, 'first' | 'chunks'>,
  chunk: TextBatch['chunks'][number] & { readonly number: number },
): string[] {
  const { number, text, tokenCount, overlap, hash, like } = chunk;
  return [
    'document',
    documentId,
    'generation',
    generation,
    'number',
    String(number),
    'content',
    text,
    'tokens',
    String(tokenCount),
    'overlap',
    String(overlap),
    'hash',
    hash,
    'tags',
    tags,
    'like',
    like ? `${like.generation}:${String(like.number)}` : '',
  ];
}

/**
 * Field of a generation that says how many of its batches are embedded. Each set of vectors has its own: what is
 * embedded for another set is not embedded for this one.
 */
export const embeddedField = (vectors: VectorSet): string => `embedded${fieldEnding(vectors)}`;

/** The field that marks a batch as embedded, and the one with their number. */
export const embeddedFields = (vectors: VectorSet, batch: number): [mark: string, count: string] => [
  `embedded:${String(batch)}${fieldEnding(vectors)}`,
  embeddedField(vectors),
];

const fieldEnding = ({ field }: VectorSet): string => (field === FIRST_VECTORS.field ? '' : `:${field}`);

/** What a generation says of the tags of its first `count` chunks; tags may be long, their name is not. */
export const tagsName = (tags: string): string => textHash(tags);
export const taggedValue = (tags: string, count: number): string => `${tagsName(tags)}:${String(count)}`;

/** The digest by which a later attempt finds the vector of a text again. */
export function textHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** What embedding adds. */
export function vectorFields(
  { vector, terms }: ChunkVector,
  { field, type }: VectorSet,
): (string | Buffer)[] {
  return [field, encodeVector(vector, type), ...(terms ? termFields(terms) : [])];
}

/** To be ranked by, and for a full-text index to find. */
function termFields(terms: Uint8Array): (string | Buffer)[] {
  return ['terms', Buffer.from(terms), 'words', termTokens(terms)];
}

export const STORED_FIELDS = ['content', 'tokens', 'overlap', 'like'];

/** Of what was read by the names in `STORED_FIELDS`; null where there is no such chunk. */
export function storedChunk(
  number: number,
  [text, tokens, overlap, like]: readonly (string | null)[],
): StoredChunk | null {
  if (text == null) return null;
  return { number, text, tokenCount: Number(tokens), overlap: Number(overlap), like: address(like) };
}

/** Empty text, and a field that is not there, name no chunk. */
function address(like: string | null | undefined): ChunkAddress | null {
  if (!like) return null;
  const [generation, number] = like.split(':');
  return generation && number !== undefined ? { generation, number: Number(number) } : null;
}

/** Fields of several chunks as arguments of a script: before those of each comes their number. */
export const withLengths = <Field extends string | Buffer>(rows: readonly Field[][]): (Field | string)[] =>
  rows.flatMap((fields) => [String(fields.length), ...fields]);
