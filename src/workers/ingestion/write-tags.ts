import { BATCH_SIZE } from '../../shared/batches.js';
import type { Chunks } from '../../shared/chunks/chunks.js';
import { taggedValue } from '../../shared/chunks/fields.js';
import type { Write } from '../../shared/chunks/write-texts.js';
import type { DocumentRecord } from '../../shared/document.js';
import type { ExpectedField } from '../../shared/documents/change.js';
import { documentTags } from '../../shared/documents/document-tags.js';
import type { Records } from '../../shared/documents/records.js';
import { endless, type AfterStep } from '../job-turn.js';

/** Returns the tags that the document will have when its pending content is published. */
export function tagsWhenPublished(record: DocumentRecord): string {
  return documentTags(record.pending ? { ...record, published: record.pending, pending: null } : record);
}

/**
 * Writes the tags that `tagsOf` returns for the record to the first `count` chunks of a generation. All chunks get the
 * tags of the same revision: when the tags change in the meantime, it begins again.
 * @returns false for a generation that was discarded, or a document that was removed
 */
export async function writeAllTags(
  { records, chunks }: { records: Pick<Records, 'read'>; chunks: Pick<Chunks, 'taggedUpTo' | 'writeTags'> },
  known: DocumentRecord,
  {
    generation,
    count,
    tagsOf,
    afterStep = endless,
  }: {
    generation: string;
    count: number;
    tagsOf: (of: DocumentRecord) => string;
    /** Called after each batch that has them. */
    afterStep?: AfterStep;
  },
): Promise<boolean> {
  for (let record: DocumentRecord | null = known; record; record = await records.read(record.id)) {
    const tags = tagsOf(record);
    const of = { documentId: record.id, revision: record.revision };
    let done: Write = 'written';
    let first = await chunks.taggedUpTo(generation, tags);
    for (; first < count && done === 'written'; first += BATCH_SIZE) {
      const numbers = Array.from({ length: Math.min(BATCH_SIZE, count - first) }, (_, i) => first + i);
      done = await chunks.writeTags(generation, { numbers, tags, of });
      if (done === 'written') afterStep();
    }
    if (done !== 'overtaken') return done === 'written';
  }
  return false;
}

/** The field of a generation that shows that all of its chunks have these tags. */
export const expectedTags = (generation: string, tags: string, count: number): ExpectedField => ({
  generation,
  field: 'tagged',
  value: taggedValue(tags, count),
});
