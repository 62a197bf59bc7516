import { BATCH_SIZE } from '../../shared/batches.js';
import type { Chunks } from '../../shared/chunks/chunks.js';
import { markedValue, nameMark, type ChunkMarks } from '../../shared/chunks/fields.js';
import type { Renaming } from '../../shared/chunks/rename-chunks.js';
import { namingOf, searchedTerms, type Naming } from '../../shared/chunks/searched-text.js';
import type { Write } from '../../shared/chunks/write-chunks.js';
import type { DocumentRecord } from '../../shared/document.js';
import type { ExpectedField } from '../../shared/documents/change.js';
import { documentTags } from '../../shared/documents/record-fields.js';
import type { Records } from '../../shared/documents/records.js';
import { endless, type AfterStep } from '../job-turn.js';

/** Returns the tags that the document will have when its pending content is published. */
export function tagsWhenPublished(record: DocumentRecord): string {
  return documentTags(record.pending ? { ...record, published: record.pending, pending: null } : record);
}

/** The facts of a document by which its chunks are found and filtered. */
export interface Shown {
  readonly tags: string;
  readonly naming: Naming;
}

/** Returns the facts that the chunks of the published generation show. */
export const shownNow = (record: DocumentRecord): Shown => ({
  tags: documentTags(record),
  naming: namingOf(record.published),
});

/** Returns the facts that the chunks of the pending content show. */
export const shownWhenPublished = (record: DocumentRecord): Shown => ({
  tags: tagsWhenPublished(record),
  naming: namingOf(record.pending ?? record.published),
});

export const marksOf = ({ tags, naming }: Shown): ChunkMarks => ({ tags, named: nameMark(naming.filename) });

/**
 * Writes the tags that `shownBy` returns for the record to the first `count` chunks of a generation, and the terms of
 * chunks whose file has another name now. All chunks get the tags of the same revision: when the tags change meanwhile, it
 * begins again.
 * @returns false for a generation that was discarded, or a document that was removed
 */
export async function writeAllTags(
  { records, chunks }: { records: Pick<Records, 'read'>; chunks: TaggedChunks },
  known: DocumentRecord,
  {
    generation,
    count,
    shownBy,
    afterStep = endless,
  }: {
    generation: string;
    count: number;
    shownBy: (of: DocumentRecord) => Shown;
    /** Called after each batch that has them. */
    afterStep?: AfterStep;
  },
): Promise<boolean> {
  for (let record: DocumentRecord | null = known; record; record = await records.read(record.id)) {
    const shown = shownBy(record);
    const marks = marksOf(shown);
    const of = { documentId: record.id, revision: record.revision };
    let done: Write = 'written';
    let first = await chunks.taggedUpTo(generation, marks);
    for (let last = first; first < count && done === 'written'; first = last) {
      last = Math.min(count, first - (first % BATCH_SIZE) + BATCH_SIZE);
      const numbers = Array.from({ length: last - first }, (_, i) => first + i);
      const renaming = await renamingOf(chunks, { generation, numbers, naming: shown.naming });
      done = await chunks.writeTags(generation, { numbers, ...marks, of, renaming });
      if (done === 'written') afterStep();
    }
    if (done !== 'overtaken') return done === 'written';
  }
  return false;
}

type TaggedChunks = Pick<Chunks, 'taggedUpTo' | 'writeTags' | 'readOtherNames'>;

/** Makes the terms of the chunks of a batch that hold another name of their file; null without any. */
async function renamingOf(
  chunks: Pick<Chunks, 'readOtherNames'>,
  { generation, numbers, naming }: { generation: string; numbers: readonly number[]; naming: Naming },
): Promise<Renaming | null> {
  const others = await chunks.readOtherNames(generation, { numbers, named: nameMark(naming.filename) });
  if (!others) return null;
  const terms = others.chunks.map(
    ({ chunk, terms: known }) => [chunk.number, known && searchedTerms(chunk, naming)] as const,
  );
  return { ...others, terms: new Map(terms) };
}

/** The field of a generation that shows that all of its chunks have these tags, and are found by this name. */
export const expectedTags = (generation: string, shown: Shown, count: number): ExpectedField => ({
  generation,
  field: 'tagged',
  value: markedValue(marksOf(shown), count),
});
