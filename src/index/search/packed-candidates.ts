import type { IndexedDocument } from '../tables/document-table.js';
import type { ChunkTable } from '../tables/chunk-table.js';

/** Names a chunk of a document. */
export interface ChunkAddress {
  readonly documentId: string;
  readonly generation: string;
  readonly number: number;
}

export interface FoundChunk extends ChunkAddress {
  readonly score: number;
}

/** Found chunks as two arrays of numbers, which are transferred to the other thread, and two strings. Objects would be cloned one by one. */
export interface PackedCandidates {
  /** One line a document: its id, and the part of its generation's id after that. */
  readonly documentIds: string;
  readonly attempts: string;
  /** Two numbers for each candidate: the line of its document, and the number of the chunk. */
  readonly numbers: Int32Array<ArrayBuffer>;
  readonly scores: Float64Array<ArrayBuffer>;
}

/** Chunks by slot with their scores. */
export interface ScoredSlots {
  readonly slots: ArrayLike<number>;
  readonly scores: ArrayLike<number>;
}

interface Tables {
  readonly chunks: Pick<ChunkTable, 'links'>;
  readonly documents: readonly (Pick<IndexedDocument, 'id' | 'attempt'> | undefined)[];
}

export function packCandidates(
  { slots, scores }: ScoredSlots,
  { chunks, documents }: Tables,
): PackedCandidates {
  const numbers = new Int32Array(slots.length * 2);
  const packedScores = new Float64Array(slots.length);
  const documentIds: string[] = [];
  const attempts: string[] = [];
  const lines = new Map<number, number>();
  let count = 0;
  // Plain loops here and below: for hundreds of candidates, `Array.from` and spreading cost a millisecond.
  for (let i = 0; i < slots.length; i += 1) {
    const slot = slots[i];
    const documentSlot = chunks.links.documentOf(slot);
    let line = lines.get(documentSlot);
    if (line === undefined) {
      const document = documents[documentSlot];
      if (document?.attempt == null) continue;
      line = documentIds.push(document.id) - 1;
      attempts.push(document.attempt);
      lines.set(documentSlot, line);
    }
    numbers[2 * count] = line;
    numbers[2 * count + 1] = chunks.links.numberOf(slot);
    packedScores[count] = scores[i];
    count += 1;
  }
  return {
    documentIds: documentIds.join('\n'),
    attempts: attempts.join('\n'),
    numbers: numbers.slice(0, 2 * count),
    scores: packedScores.slice(0, count),
  };
}

export function unpackCandidates({ documentIds, attempts, numbers, scores }: PackedCandidates): FoundChunk[] {
  const idLines = documentIds.split('\n');
  const attemptLines = attempts.split('\n');
  const candidates: FoundChunk[] = [];
  for (let at = 0; at < scores.length; at += 1) {
    const line = numbers[2 * at];
    if (!(line < idLines.length && line < attemptLines.length)) throw new RangeError('malformed candidates');
    const [documentId, attempt] = [idLines[line], attemptLines[line]];
    const number = numbers[2 * at + 1];
    candidates.push({ documentId, generation: documentId + attempt, number, score: scores[at] });
  }
  return candidates;
}
