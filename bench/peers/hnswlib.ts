import { K, type MakeEngine } from './engines.js';
import { loadPeer } from './find-peers.js';

interface NearestIndex {
  initIndex(capacity: number, m?: number, efConstruction?: number): void;
  addPoint(point: readonly number[], label: number): void;
  searchKnn(
    point: readonly number[],
    k: number,
  ): { readonly distances: number[]; readonly neighbors: number[] };
}

/** The used part of the package. */
interface HnswlibPackage {
  readonly HierarchicalNSW: new (
    space: 'ip',
    dimensions: number,
  ) => NearestIndex & { setEf(ef: number): void };
  readonly BruteforceSearch: new (space: 'ip', dimensions: number) => NearestIndex;
}

const M = 16;
const EF_CONSTRUCTION = 200;

/** A graph of hnswlib, of which each query looks at `ef` candidates; without `ef`, its plain scan. */
export const makeHnswlib =
  (ef: number | null): MakeEngine<Float32Array> =>
  (about) => {
    const index = makeIndex(ef, about);
    let size = 0;
    return {
      add: (vectors) => {
        for (const vector of vectors) index.addPoint(Array.from(vector), size++);
      },
      search: (vector) => {
        const { neighbors, distances } = index.searchKnn(Array.from(vector), K);
        return neighbors.map((place, at) => ({ place, score: 1 - (distances[at] ?? Number.NaN) }));
      },
    };
  };

function makeIndex(
  ef: number | null,
  { capacity, dimensions }: Parameters<MakeEngine<Float32Array>>[0],
): NearestIndex {
  // @NOTE the package has no types where it is not installed
  const { HierarchicalNSW, BruteforceSearch } = loadPeer('hnswlib-node') as HnswlibPackage;
  if (ef === null) {
    const index = new BruteforceSearch('ip', dimensions);
    index.initIndex(capacity);
    return index;
  }
  const index = new HierarchicalNSW('ip', dimensions);
  index.initIndex(capacity, M, EF_CONSTRUCTION);
  index.setEf(ef);
  return index;
}
