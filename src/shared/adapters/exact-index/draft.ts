import type { MirroredContent } from './mirrored.js';

/** Chunks of a generation while they are being read; nothing answers from them yet. */
export interface Draft {
  /** Takes the next chunk. @returns false when its vector has not the length of the others */
  add(vector: Uint8Array, terms: Uint8Array): boolean;
  finish(generation: string): MirroredContent;
  discard(): void;
}

export function createDraft(store: {
  add(bytes: Uint8Array): number | null;
  free(vector: number): void;
}): Draft {
  const vectors: number[] = [];
  const termEnds: number[] = [];
  let terms = new Uint8Array(0);
  let used = 0;
  return {
    add: (bytes, more) => {
      const vector = store.add(bytes);
      if (vector === null) return false;
      vectors.push(vector);
      const end = used + more.byteLength;
      if (end > terms.byteLength) {
        const larger = new Uint8Array(used === 0 ? end : end * 2);
        larger.set(terms.subarray(0, used));
        terms = larger;
      }
      terms.set(more, used);
      used = end;
      termEnds.push(end);
      return true;
    },
    finish: (generation) => ({
      ...{ generation, vectors, termEnds },
      terms: used === terms.byteLength ? terms : terms.slice(0, used),
    }),
    discard: () => {
      for (const vector of vectors) store.free(vector);
      vectors.length = 0;
    },
  };
}
