import type { Records } from '../../shared/documents/records.js';
import { statisticsOwner } from '../../shared/documents/transitions.js';
import { isSettled } from '../../shared/term-statistics/parts.js';
import type {
  BatchName,
  CountedBatch,
  TermStatisticsStore,
} from '../../shared/term-statistics/term-statistics.js';

/**
 * Brings it up to a document's access lists whose term statistics hold a batch of its chunks, all of it. A change of the
 * lists may come at any time: what is begun by the lists of before is refused, and they are read again.
 * @returns false where it is not to be counted (yet)
 * @param readChunks asked only where something is to be done
 */
export async function settleCount(
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
    // What is not embedded yet is counted by the job that embeds it.
    if (chunks.length === 0) return false;
    const wanted = { documentId, revision: record.revision, owner };
    if ((await statistics.settle({ ...batch, chunks }, wanted)) === 'refused') return false;
  }
}
