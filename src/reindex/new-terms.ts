import type { Chunks } from '../shared/chunks/chunks.js';
import type { Records } from '../shared/documents/records.js';
import { statisticsOwner } from '../shared/documents/transitions.js';
import type { TermStatisticsStore } from '../shared/term-statistics/term-statistics.js';

/*
 * A chunk's terms are replaced together with its vectors, and the statistics of its owner hold the old terms: they are
 * forgotten before, and the new ones are counted after. An interrupted run finds for each batch how far it came: it forgets
 * no terms twice, and counted terms stay.
 */

export interface NewTerms {
  readonly records: Pick<Records, 'readMany'>;
  readonly chunks: Pick<Chunks, 'readTerms'>;
  readonly statistics: Pick<TermStatisticsStore, 'settle'>;
}

interface Batch {
  readonly documentId: string;
  readonly generation: string;
  readonly batch: number;
  readonly numbers: readonly number[];
}

/** Takes the terms that the chunks have from the statistics that hold them. */
export const forgetTerms = (parts: NewTerms, batch: Batch): Promise<void> =>
  settle(parts, batch, { isForgotten: true });

/** Counts the terms that the chunks have in the statistics of the document's owner. */
export const countTerms = (parts: NewTerms, batch: Batch): Promise<void> =>
  settle(parts, batch, { isForgotten: false });

async function settle(
  { records, chunks, statistics }: NewTerms,
  { documentId, generation, batch, numbers }: Batch,
  { isForgotten }: { readonly isForgotten: boolean },
): Promise<void> {
  for (;;) {
    const [record] = await records.readMany([documentId]);
    if (!record) return;
    const rows = await chunks.readTerms(generation, numbers);
    if (rows.length === 0) return;
    const owner = isForgotten ? null : statisticsOwner(record);
    const wanted = { documentId, revision: record.revision, owner };
    if ((await statistics.settle({ generation, batch, chunks: rows }, wanted)) !== 'overtaken') return;
  }
}
