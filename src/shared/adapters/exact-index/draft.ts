import type { MirroredContent } from './mirrored.js';

/** Chunks of a generation while they are being read; nothing answers from them yet. */
export interface Draft {
  /** Takes the next chunk. @returns false when its vector has not the length of the others */
  add(vector: Uint8Array, terms: Uint8Array): boolean;
  finish(generation: string): MirroredContent;
  discard(): void;
}

export function createDraft(store: {
  add(vector: Uint8Array, terms: Uint8Array): number | null;
  free(slot: number): void;
}): Draft {
  const slots: number[] = [];
  return {
    add: (vector, terms) => {
      const slot = store.add(vector, terms);
      if (slot !== null) slots.push(slot);
      return slot !== null;
    },
    finish: (generation) => ({ generation, vectors: slots }),
    discard: () => {
      for (const slot of slots) store.free(slot);
      slots.length = 0;
    },
  };
}
