import type { Records } from '../../shared/documents/records.js';
import { statisticsOwner } from '../../shared/documents/transitions.js';
import { isSettled } from '../../shared/term-statistics/count-steps.js';
import type {
  BatchName,
  CountedBatch,
  TermStatisticsStore,
} from '../../shared/term-statistics/term-statistics.js';

/**
 * Counts the terms of a batch of chunks in the statistics of the owner to whom the document's access lists assign it. The
 * lists may change at any time; then the count is refused, and the lists are read again.
 * @param readChunks is called only when the batch has to be counted
 * @returns false when the batch is not to be counted, or not yet
 */
export async function updateTermCounts(
  { records, statistics }: { records: Pick<Records, 'read'>; statistics: TermStatisticsStore },
  batch: BatchName & { readonly documentId: string },
  readChunks: () => Promise<CountedBatch['chunks']>,
): Promise<boolean> {
  const { documentId } = batch;
  for (;;) {
    const [record, state] = await Promise.all([records.read(documentId), statistics.state(batch)]);
    if (!record) return false;
    const owner = statisticsOwner(record);
    if (isSettled(state, owner)) return true;
    const chunks = await readChunks();
    // Chunks without vectors are counted by the job that embeds them.
    if (chunks.length === 0) return false;
    const wanted = { documentId, revision: record.revision, owner };
    if ((await statistics.settle({ ...batch, chunks }, wanted)) === 'refused') return false;
  }
}
