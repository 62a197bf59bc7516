import { hash } from 'node:crypto';
import { z } from 'zod';
import { locationSchema, type Location } from '../../readers/index.js';
import { encodeVector, FIRST_VECTORS, type VectorSet } from '../data-set/stored-vectors.js';
import { jsonOrNull } from '../json-values.js';
import { termTokens } from '../text/term-tokens.js';

export interface ChunkText extends Partial<Whereabouts> {
  readonly text: string;
  readonly tokenCount: number;
  /**
   * The number of UTF-16 units at the start of `text` that are repeated from before: the end of the last chunk, or names of
   * columns.
   */
  readonly overlap: number;
}

export interface ChunkVector {
  readonly number: number;
  readonly vector: Float32Array;
  /** True if the text is longer than the model reads, so that the vector is the mean of the vectors of its parts. */
  readonly inParts?: boolean;
  /** Packed term counts, see `packed-terms.ts` of src/index; absent when the hash has them already. */
  readonly terms?: Uint8Array;
}

/** All that embedding adds to a chunk. */
export interface EmbeddedChunk extends ChunkVector {
  readonly terms: Uint8Array;
}

/** The mark of its file's name in a chunk's hash: `nameMark` of the name that its terms hold. */
export interface NamedChunk {
  readonly named: string;
}

export interface ChunkAddress {
  readonly generation: string;
  readonly number: number;
}

export interface StoredChunk extends Omit<ChunkText, keyof Whereabouts>, Whereabouts {
  readonly number: number;
  /** A chunk of an earlier generation with the same text, whose vector can be reused. */
  readonly like: ChunkAddress | null;
}

export interface TextBatch {
  readonly documentId: string;
  readonly generation: string;
  readonly first: number;
  readonly chunks: readonly (ChunkText & { readonly hash: string; readonly like: ChunkAddress | null })[];
  readonly tags: string;
  /** The mark of the file's name by which the chunks are found; see `nameMark`. */
  readonly named: string;
}

/** A vector that was made of a text, or that a chunk of an earlier generation has of the same text. */
export type TextVector = Required<Pick<ChunkVector, 'vector' | 'inParts'>>;

/** A chunk with everything that its hash holds. */
export type WholeChunk = TextBatch['chunks'][number] & EmbeddedChunk;

/** The fields of a chunk's hash before it is embedded, as names and values. */
export function textFields(
  { documentId, generation, tags, named }: Omit<TextBatch, 'first' | 'chunks'>,
  chunk: TextBatch['chunks'][number] & { readonly number: number },
): string[] {
  const { number, text, tokenCount, overlap, hash, like } = chunk;
  const whereabouts = packWhereabouts(chunk);
  return [
    ...(whereabouts === '' ? [] : ['where', whereabouts]),
    ...(named === '' ? [] : ['named', named]),
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
 * The field of a generation that counts its embedded batches. Each set of vectors has its own, since a
 * batch that is embedded for one set is not embedded for another.
 */
export const embeddedField = (vectors: VectorSet): string => `embedded${fieldEnding(vectors)}`;

/** The field that marks a batch as embedded, and the field that counts these batches. */
export const embeddedFields = (vectors: VectorSet, batch: number): [mark: string, count: string] => [
  `embedded:${String(batch)}${fieldEnding(vectors)}`,
  embeddedField(vectors),
];

/** Returns the field of a chunk that says that its vector is the mean of the vectors of parts. */
export const inPartsField = (vectors: VectorSet): string => `in_parts${fieldEnding(vectors)}`;

const fieldEnding = ({ field }: VectorSet): string => (field === FIRST_VECTORS.field ? '' : `:${field}`);

/** The data that a record gives its chunks, beside their texts and vectors, and that changes with it. */
export interface ChunkMarks extends NamedChunk {
  readonly tags: string;
}

/** The short name under which a generation remembers the tags, and the name of the file, of its first `count` chunks. */
export const marksName = ({ tags, named }: ChunkMarks): string =>
  textHash(named === '' ? tags : `${tags}\n${named}`);
export const markedValue = (marks: ChunkMarks, count: number): string =>
  `${marksName(marks)}:${String(count)}`;

/** A short mark of a file's name, by which a chunk says which name its terms hold; empty for none. */
export const nameMark = (filename: string | null): string =>
  filename === null ? '' : textHash(filename).slice(0, 8);

/** Reads this mark in the hash of a chunk. */
export const readNamed = (held: unknown): string => (held instanceof Buffer ? held.toString() : '');

/** The digest of a text, by which a later attempt finds its vector. */
export function textHash(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** The fields that embedding adds. */
export function vectorFields(
  { vector, inParts = false, terms }: ChunkVector,
  vectors: VectorSet,
): (string | Buffer)[] {
  return [
    vectors.field,
    encodeVector(vector, vectors.type),
    ...(inParts ? [inPartsField(vectors), '1'] : []),
    ...(terms ? termFields(terms) : []),
  ];
}

/** The fields that ranking reads, and that a full-text index searches. */
export function termFields(terms: Uint8Array): (string | Buffer)[] {
  return ['terms', Buffer.from(terms), 'words', termTokens(terms)];
}

/** Returns the text of a chunk that the one before does not hold, so that the texts of all are the document's. */
export function freshText(
  { text, overlap }: Pick<ChunkText, 'text' | 'overlap'>,
  { isTrimmed, isFirst }: { readonly isTrimmed: boolean; readonly isFirst: boolean },
): string {
  // The white space between chunks that are trimmed is kept nowhere.
  return isTrimmed && !isFirst && overlap === 0 ? `\n${text}` : text.slice(overlap);
}

export const STORED_FIELDS = ['content', 'tokens', 'overlap', 'like', 'where'];

/** Makes a chunk of the values of `STORED_FIELDS`; null when there is no such chunk. */
export function storedChunk(
  number: number,
  [text, tokens, overlap, like, where]: readonly (string | null)[],
): StoredChunk | null {
  if (text == null) return null;
  return {
    number,
    text,
    tokenCount: Number(tokens),
    overlap: Number(overlap),
    like: address(like),
    ...unpackWhereabouts(where),
  };
}

/** An empty field, like a missing one, names no chunk. */
function address(like: string | null | undefined): ChunkAddress | null {
  if (!like) return null;
  const [generation, number] = like.split(':');
  return generation && number !== undefined ? { generation, number: Number(number) } : null;
}

/** Bytes of tags of a whole document. Every chunk has them, so that the same metadata costs a long document more. */
const MAX_TAG_BYTES = 128 * 1024 * 1024;

/** Returns the number of bytes of tags that each of this many chunks may have. */
export const maxTagBytes = (chunks: number): number => Math.floor(MAX_TAG_BYTES / Math.max(1, chunks));

/** The place of a chunk in its file. */
export interface Whereabouts {
  /** Null where the format does not tell. */
  readonly location: Location | null;
  /** The headings over it, the outermost first. */
  readonly section: readonly string[];
  /** The places within its text (`packSpots`); empty where the format tells none. */
  readonly spots: string;
}

export const NOWHERE: Whereabouts = { location: null, section: [], spots: '' };

const whereaboutsSchema = z.object({
  location: locationSchema.nullable().default(null),
  section: z.array(z.string()).default([]),
  spots: z.string().default(''),
});

/** Returns the form of it in the hash of a chunk; empty for nothing. */
export function packWhereabouts({ location = null, section = [], spots = '' }: Partial<Whereabouts>): string {
  if (location === null && section.length === 0) return '';
  return JSON.stringify({
    ...(location === null ? {} : { location }),
    ...(section.length === 0 ? {} : { section }),
    ...(spots === '' ? {} : { spots }),
  });
}

/**
 * Reads the place of a chunk. Chunks of earlier versions have none. An unreadable place must not keep a text from being
 * found.
 */
export function unpackWhereabouts(packed: string | null | undefined): Whereabouts {
  if (!packed) return NOWHERE;
  return whereaboutsSchema.safeParse(jsonOrNull(packed)).data ?? NOWHERE;
}
