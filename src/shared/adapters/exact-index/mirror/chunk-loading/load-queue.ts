import { askOnPage, PAGE_SIZE, type ChunkLoad, type Page } from './chunk-load.js';

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
