import { isPacked, tieKey, type LoadedChunks } from '../../../../index/index.js';
import type { ChunkBytes, MirrorClient } from './client.js';
import type { Mirror } from './mirror.js';
import type { ParsedGeneration } from './record-parser.js';

/** Chunks that one page asks for. Two pages are in flight. */
export const PAGE_SIZE = 128;

/** The reasons why the chunks of a document are not in the mirror. */
export const REASONS = {
  missing: 'chunks are missing',
  terms: 'terms cannot be read',
  length: 'vectors have another length than the others',
} as const;

/** The chunks of one generation on their way into the mirror. */
export interface ChunkLoad {
  readonly documentId: string;
  readonly chunkCount: number;
  readonly loaded: LoadedChunks;
  /** The number of chunks that were asked for, from 0 on. */
  asked: number;
  /** True if the generation is published, so that searches wait for its chunks. */
  isUrgent: boolean;
  /** Chunks are taken in only while it is `loading`. */
  state: 'loading' | 'whole' | 'failed' | 'dropped';
  failure: keyof typeof REASONS | null;
}

interface Piece {
  readonly load: ChunkLoad;
  readonly generation: string;
  readonly number: number;
}
export type Page = readonly Piece[];

export function createChunkLoad(
  documentId: string,
  { attempt, chunkCount, named }: ParsedGeneration,
  { isUrgent }: { readonly isUrgent: boolean },
): ChunkLoad {
  const loaded = { attempt, named, tie: tieKey(documentId), slots: [] };
  return { documentId, chunkCount, loaded, asked: 0, isUrgent, state: 'loading', failure: null };
}

export const generationOf = ({ documentId, loaded }: ChunkLoad): string => documentId + loaded.attempt;

export const chunksLeft = ({ chunkCount, loaded }: ChunkLoad): number => chunkCount - loaded.slots.length;

/** Adds the next chunks of a load to a page, up to its size. */
function askOnPage(load: ChunkLoad, page: Piece[]): void {
  const generation = generationOf(load);
  while (load.asked < load.chunkCount && page.length < PAGE_SIZE) {
    page.push({ load, generation, number: load.asked });
    load.asked += 1;
  }
}

/** Pages over the chunks of loads, one load after the other. */
export function* pagesOf(loads: Iterable<ChunkLoad>): Generator<Page> {
  let page: Piece[] = [];
  for (const load of loads) {
    while (load.asked < load.chunkCount) {
      askOnPage(load, page);
      if (page.length < PAGE_SIZE) continue;
      yield page;
      page = [];
    }
  }
  if (page.length > 0) yield page;
}

interface Reading {
  readonly client: Pick<MirrorClient, 'readChunks'>;
  readonly mirror: Pick<Mirror, 'addTo'>;
  /** Called after the chunks of a page were taken in. */
  readonly onPage?: (page: Page) => void;
}

/**
 * Takes in page after page, in their order. Between two pages, everything else that the thread has to do is done.
 * @throws the error that Redis rejects with. Nothing is taken in after that, though the reply to a later page may still be
 *   under way.
 */
export async function readPages(pages: Iterable<Page>, { client, mirror, onPage }: Reading): Promise<void> {
  let inFlight: Promise<void> = Promise.resolve();
  try {
    for (const page of pages) {
      const replies = client.readChunks(page);
      const before = inFlight;
      // A page may take several replies. The page after it, which came in one, must wait for it.
      inFlight = Promise.all([replies, before]).then(([chunks]) => {
        for (const [i, chunk] of chunks.entries()) take(page[i]?.load, chunk, mirror);
        onPage?.(page);
      });
      // The promise is awaited one page later, or below.
      inFlight.catch(() => undefined);
      await before;
    }
    await inFlight;
  } catch (error) {
    await inFlight.catch(() => undefined);
    throw error;
  }
}

function take(load: ChunkLoad | undefined, chunk: ChunkBytes | null, mirror: Pick<Mirror, 'addTo'>): void {
  if (load?.state !== 'loading' || load.failure !== null) return;
  if (!chunk) load.failure = 'missing';
  else if (chunk.terms.length > 0 && !isPacked(chunk.terms)) load.failure = 'terms';
  else if (!mirror.addTo(load.loaded, chunk.vector, chunk.terms)) load.failure = 'length';
}

/**
 * The loads that have chunks to be asked for. Those that searches wait for go first. Otherwise each gets a page in turn, so
 * that a short document never waits for the end of a long one.
 */
export interface LoadQueue {
  readonly isEmpty: boolean;
  add(load: ChunkLoad): void;
  remove(load: ChunkLoad): void;
  /** Pages until the queue is empty. A page is made when it is asked for. */
  pages(): Generator<Page>;
}

export function createLoadQueue(): LoadQueue {
  const urgent = new Set<ChunkLoad>();
  const others = new Set<ChunkLoad>();
  const remove = (load: ChunkLoad) => {
    urgent.delete(load);
    others.delete(load);
  };
  return {
    get isEmpty() {
      return urgent.size + others.size === 0;
    },
    add: (load) => {
      remove(load);
      if (load.asked < load.chunkCount) (load.isUrgent ? urgent : others).add(load);
    },
    remove,
    pages: function* pages() {
      while (urgent.size + others.size > 0) yield makePage(urgent, others);
    },
  };
}

function makePage(...queues: readonly Set<ChunkLoad>[]): Page {
  const page: Page[number][] = [];
  for (const queue of queues) {
    for (const load of queue) {
      queue.delete(load);
      askOnPage(load, page);
      // A load of more chunks than the page has room for goes to the end.
      if (load.asked < load.chunkCount) queue.add(load);
      if (page.length === PAGE_SIZE) return page;
    }
  }
  return page;
}

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
