import type { Candidate } from '../../ports.js';
import type { MirroredDocument } from './mirror/mirrored.js';
import type { Selected } from './scan/selection.js';
import type { ChunkTable } from './tables/chunk-table.js';

/** Candidates as one buffer, which is transferred to the other thread, and two strings. Objects would be cloned one by one. */
export interface PackedCandidates {
  readonly count: number;
  /** One line a document: its id, and the part of its generation's id after that. */
  readonly documentIds: string;
  readonly attempts: string;
  readonly buffer: ArrayBuffer;
}

/** The memory that holds terms, by the number of the slab. */
export type Slabs = ReadonlyMap<number, SharedArrayBuffer>;

/** Numbers for each candidate: line of its document, chunk number, slab, first byte and length of its terms, similarity. */
const FIELDS = 6;

export function packCandidates(
  { slots, scores }: Selected,
  { chunks, documents }: { chunks: ChunkTable; documents: readonly (MirroredDocument | undefined)[] },
): PackedCandidates {
  const buffer = new ArrayBuffer(slots.length * FIELDS * 4);
  const numbers = new Int32Array(buffer);
  const similarities = new Float32Array(buffer);
  const documentIds: string[] = [];
  const attempts: string[] = [];
  const lines = new Map<number, number>();
  let at = 0;
  // Plain loops here and below: for hundreds of candidates, `Array.from` and spreading cost a millisecond. `?? 0` reads
  // numbers that are known to be there, because a check would cost time as well.
  for (let i = 0; i < slots.length; i += 1) {
    const slot = slots[i] ?? 0;
    const documentSlot = chunks.links.documentOf(slot);
    let line = lines.get(documentSlot);
    if (line === undefined) {
      const document = documents[documentSlot];
      if (document?.attempt == null) continue;
      line = documentIds.push(document.id) - 1;
      attempts.push(document.attempt);
      lines.set(documentSlot, line);
    }
    numbers[at] = line;
    numbers[at + 1] = chunks.links.numberOf(slot);
    chunks.terms.writePlace(slot, numbers, at + 2);
    similarities[at + 5] = scores[i] ?? 0;
    at += FIELDS;
  }
  return {
    count: at / FIELDS,
    documentIds: documentIds.join('\n'),
    attempts: attempts.join('\n'),
    buffer,
  };
}

export function unpackCandidates(
  { count, documentIds, attempts, buffer }: PackedCandidates,
  slabs: Slabs,
): Candidate[] {
  const numbers = new Int32Array(buffer);
  const similarities = new Float32Array(buffer);
  const idLines = documentIds.split('\n');
  const attemptLines = attempts.split('\n');
  const candidates: Candidate[] = [];
  for (let at = 0; at < count * FIELDS; at += FIELDS) {
    const line = numbers[at] ?? 0;
    const [documentId, attempt] = [idLines[line], attemptLines[line]];
    const slab = slabs.get(numbers[at + 2] ?? -1);
    if (documentId === undefined || attempt === undefined || !slab)
      throw new RangeError('malformed candidates');
    const generation = documentId + attempt;
    const terms = new Uint8Array(slab, numbers[at + 3], numbers[at + 4]);
    const number = numbers[at + 1] ?? 0;
    candidates.push({ documentId, generation, number, similarity: similarities[at + 5] ?? 0, terms });
  }
  return candidates;
}
