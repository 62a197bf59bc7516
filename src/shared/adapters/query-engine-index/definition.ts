import type { VectorSet } from '../../data-set/vectors.js';
import type { Redis } from '../../redis/client.js';
import { keys } from '../../redis/keys.js';

type Schema = Parameters<Redis['ft']['create']>[1];

/** How vectors are indexed. `m` and `efConstruction` shape an HNSW graph, larger being slower and better. */
export type VectorAlgorithm =
  { readonly name: 'flat' } | { readonly name: 'hnsw'; readonly m: number; readonly efConstruction: number };

export interface VectorSpace {
  readonly model: string;
  readonly dimensions: number;
  readonly vectors: VectorSet;
  readonly algorithm: VectorAlgorithm;
}

/** An index of the engine over all hashes whose key begins with `prefix`. */
export interface IndexDefinition {
  /** Says all that shapes the index. */
  readonly name: string;
  /** What queries ask: there from when the index has taken in every hash, so that nobody asks a half of one. */
  readonly alias: string;
  readonly prefix: string;
  readonly schema: Schema;
  /** Hashes from which another kind of index is advised; null where none is. */
  readonly crowdedAt: number | null;
}

/** A FLAT index compares with every vector that access and filter let through: about 10 ms at 50,000 of 1,024. */
const FLAT_CROWDED_AT = 50_000;

const tagList = { type: 'TAG', SEPARATOR: ',', CASESENSITIVE: true } as const;
/** A text of tokens, which are words of no language. */
const tokens = { type: 'TEXT', NOSTEM: true } as const;
const sortedTag = { type: 'TAG', SORTABLE: 'UNF', CASESENSITIVE: true } as const;

/** What the names of all indexes over chunks begin with. */
export const CHUNK_INDEXES = 'quire:chunks:';

const define = (definition: Omit<IndexDefinition, 'alias'>): IndexDefinition => ({
  ...definition,
  alias: `${definition.name}:whole`,
});

export function chunkIndex(space: VectorSpace, flatCrowdedAt = FLAT_CROWDED_AT): IndexDefinition {
  const { model, dimensions, vectors, algorithm } = space;
  const graph = algorithm.name === 'hnsw' ? [String(algorithm.m), String(algorithm.efConstruction)] : [];
  const shape = [model, String(dimensions), vectors.field, vectors.type, algorithm.name, ...graph];
  return define({
    name: `${CHUNK_INDEXES}${shape.join(':')}`,
    prefix: keys.chunkPrefix,
    schema: {
      tags: tagList,
      generation: tagList,
      words: tokens,
      [vectors.field]: { ...vectorField(space), AS: 'vector' },
    },
    crowdedAt: algorithm.name === 'flat' ? flatCrowdedAt : null,
  });
}

/** Over the records: what lists and counts ask. */
export const documentIndex = define({
  name: 'quire:documents:1',
  prefix: keys.documentPrefix,
  schema: { tags: tagList, createdAt: sortedTag, id: sortedTag },
  crowdedAt: null,
});

function vectorField({ dimensions, vectors, algorithm }: VectorSpace) {
  const common = {
    type: 'VECTOR',
    TYPE: vectors.type === 'float16' ? 'FLOAT16' : 'FLOAT32',
    DIM: dimensions,
    // Vectors may be shorter than 1, which a cosine would hide.
    DISTANCE_METRIC: 'IP',
  } as const;
  return algorithm.name === 'flat'
    ? ({ ...common, ALGORITHM: 'FLAT' } as const)
    : ({ ...common, ALGORITHM: 'HNSW', M: algorithm.m, EF_CONSTRUCTION: algorithm.efConstruction } as const);
}

/** What FT.INFO tells of an index, as far as it tells it. */
interface FoundShape {
  readonly prefixes: readonly string[];
  readonly fields: readonly FoundField[];
}
type FoundField = { readonly identifier: string } & Readonly<Record<string, string | undefined>>;

/** Whether an index is what `definition` would make. */
export function hasShape({ prefixes, fields }: FoundShape, { prefix, schema }: IndexDefinition): boolean {
  const wanted = Object.entries(schema);
  return (
    prefixes.length === 1 &&
    prefixes[0] === prefix &&
    fields.length === wanted.length &&
    wanted.every(([identifier, field]) =>
      fields.some((found) => found.identifier === identifier && isLike(found, field)),
    )
  );
}

/** What each property is called in a definition, and in what the engine tells. */
const PROPERTIES = [
  ['type', 'type'],
  ['SEPARATOR', 'SEPARATOR'],
  ['ALGORITHM', 'algorithm'],
  ['TYPE', 'data_type'],
  ['DIM', 'dim'],
  ['DISTANCE_METRIC', 'distance_metric'],
  ['M', 'M'],
  ['EF_CONSTRUCTION', 'ef_construction'],
] as const;

function isLike(found: FoundField, field: Schema[string]): boolean {
  const wanted = new Map<string, unknown>(Object.entries(field));
  return PROPERTIES.every(([name, reported]) => {
    const value = found[reported];
    return value === undefined || !wanted.has(name) || value === String(wanted.get(name));
  });
}
