/** A published generation that is not loaded yet. Until it is, its document answers with the chunks that it had before. */
export interface MissingChunks {
  readonly number: number;
  readonly documentId: string;
  /** Returns the number of chunks that are still to be loaded. */
  left(): number;
  readonly isOver: boolean;
  /** Resolves once the document answers with its published generation, or never will. */
  readonly over: Promise<void>;
}

/** The missing chunks, by number. */
export interface MissingList {
  readonly all: ReadonlyMap<number, MissingChunks>;
  /** @returns a function that ends it */
  add(documentId: string, left: () => number): () => void;
}

export function createMissingList(): MissingList {
  const all = new Map<number, MissingChunks>();
  let lastNumber = 0;
  return {
    all,
    add: (documentId, left) => {
      const number = (lastNumber += 1);
      let isOver = false;
      let resolve = (): void => undefined;
      const over = new Promise<void>((done) => (resolve = done));
      all.set(number, {
        number,
        documentId,
        left,
        over,
        get isOver() {
          return isOver;
        },
      });
      return () => {
        isOver = true;
        all.delete(number);
        resolve();
      };
    },
  };
}
