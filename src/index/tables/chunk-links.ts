import { sectionOf } from '../scoring/section-score.js';
import { growColumn } from '../memory/grow-column.js';

/** The chunk of a document that each slot holds, and the slot of the document's next chunk. */
export interface ChunkLinks {
  /** One more than the highest slot that ever held a chunk. */
  readonly size: number;
  /** The slot of the document whose chunk this is; -1 when the slot holds none. */
  documentOf(slot: number): number;
  numberOf(slot: number): number;
  /** The slot of the document's next chunk; -1 after the last. */
  after(slot: number): number;
  /** The slot of the first chunk of the section that holds this one. */
  sectionOf(slot: number): number;
  /** Makes slots the chunks of a document, in this order. */
  link(slots: readonly number[], documentSlot: number): void;
  unlink(slot: number): void;
  clear(): void;
}

/**
 * The links are kept in columns by slot, since objects would take several times the memory. The columns count slots from 1:
 * a 0, and a slot beyond the end of a column, mean that there is none, which is why they are read with `?? 0`.
 */
export function createChunkLinks(): ChunkLinks {
  let documents = new Int32Array(0);
  let numbers = new Int32Array(0);
  let nexts = new Int32Array(0);
  let sections = new Int32Array(0);
  let size = 0;
  return {
    get size() {
      return size;
    },
    documentOf: (slot) => (documents[slot] ?? 0) - 1,
    numberOf: (slot) => numbers[slot] ?? 0,
    after: (slot) => (nexts[slot] ?? 0) - 1,
    sectionOf: (slot) => (sections[slot] ?? 0) - 1,
    link: (slots, documentSlot) => {
      for (const [number, slot] of slots.entries()) {
        documents = growColumn(documents, slot + 1);
        numbers = growColumn(numbers, slot + 1);
        nexts = growColumn(nexts, slot + 1);
        sections = growColumn(sections, slot + 1);
        documents[slot] = documentSlot + 1;
        numbers[slot] = number;
        nexts[slot] = (slots[number + 1] ?? -1) + 1;
        sections[slot] = (slots[sectionOf(number)] ?? -1) + 1;
        size = Math.max(size, slot + 1);
      }
    },
    unlink: (slot) => {
      documents[slot] = 0;
    },
    clear: () => {
      documents.fill(0);
      size = 0;
    },
  };
}
