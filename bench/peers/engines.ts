/** Found by its place among what was added. */
export interface Hit {
  readonly place: number;
  readonly score: number;
}

/** A library that finds texts by words, or vectors by nearness, in the process that uses it. */
export interface Engine<Item> {
  /** Adds items after those that are there. */
  add(items: readonly Item[]): Promise<void> | void;
  /** The best ten, best first. */
  search(query: Item): Promise<readonly Hit[]> | readonly Hit[];
}

/** Makes an engine for at most `capacity` items of vectors with `dimensions` (0 for texts). */
export type MakeEngine<Item> = (about: {
  readonly capacity: number;
  readonly dimensions: number;
}) => Engine<Item>;

/** Hits that every engine is asked for. */
export const K = 10;

/** Engines for texts; `postings` is the code of the service's index thread. */
export const WORD_ENGINES = ['postings', 'minisearch', 'orama'] as const;
export type WordEngineName = (typeof WORD_ENGINES)[number];

/** Engines for vectors; `mirror` is the code of the service's index thread, and `raw-scan` nothing but inner products. */
export const VECTOR_ENGINES = [
  'mirror',
  'raw-scan',
  'hnswlib-brute-force',
  'hnswlib-100',
  'hnswlib-400',
] as const;
export type VectorEngineName = (typeof VECTOR_ENGINES)[number];

/** The package that an engine is of, at the version that is measured; null for our own. */
export const PACKAGES: Readonly<Record<WordEngineName | VectorEngineName, string | null>> = {
  postings: null,
  minisearch: 'minisearch',
  orama: '@orama/orama',
  mirror: null,
  'raw-scan': null,
  'hnswlib-brute-force': 'hnswlib-node',
  'hnswlib-100': 'hnswlib-node',
  'hnswlib-400': 'hnswlib-node',
};
