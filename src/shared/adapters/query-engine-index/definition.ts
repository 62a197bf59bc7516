import type { VectorSet } from '../../data-set/stored-vectors.js';
import type { Redis } from '../../redis/client.js';
import { keys } from '../../redis/keys.js';

type Schema = Parameters<Redis['ft']['create']>[1];

/** The algorithm that indexes vectors. Larger `m` and `efConstruction` make an HNSW graph better and slower to build. */
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
  /** Names everything that shapes the index. */
  readonly name: string;
  /** The name that queries use. It exists once the index holds every hash, so that no query meets a half of one. */
  readonly alias: string;
  readonly prefix: string;
  readonly schema: Schema;
  /** From this many hashes on another kind of index is advised; null where none is. */
  readonly crowdedAt: number | null;
}

/** A FLAT index compares with every vector that access and filter let through: about 10 ms for 50,000 vectors of 1,024. */
const FLAT_CROWDED_AT = 50_000;

const tagList = { type: 'TAG', SEPARATOR: ',', CASESENSITIVE: true } as const;
/** Text made of tokens, which are words of no language. */
const tokens = { type: 'TEXT', NOSTEM: true } as const;
const sortedTag = { type: 'TAG', SORTABLE: 'UNF', CASESENSITIVE: true } as const;

/** The prefix of the names of all indexes over chunks. */
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

/** The index over records, which lists and counts use. */
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

/** The shape of an index as FT.INFO reports it; some versions leave things out. */
interface FoundShape {
  readonly prefixes: readonly string[];
  readonly fields: readonly FoundField[];
}
type FoundField = { readonly identifier: string } & Readonly<Record<string, string | undefined>>;

/** Tells whether an index has the shape that `definition` describes. */
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

/** The name of each property in a definition, and in the engine's report. */
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
