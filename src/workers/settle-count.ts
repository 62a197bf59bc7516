import type { Records } from '../shared/records.js';
import type { CountedBatch, TermStatisticsStore } from '../shared/term-statistics.js';
import { countedFor } from '../shared/transitions.js';

/**
 * Brings it up to a document's access lists whose term statistics hold a batch of its chunks. A change of the lists may
 * come at any time, and the job that follows it may have looked here too early: whoever writes last looks again.
 */
export async function settleCount(
  { records, statistics }: { records: Pick<Records, 'read'>; statistics: TermStatisticsStore },
  documentId: string,
  counted: CountedBatch,
): Promise<void> {
  for (;;) {
    const record = await records.read(documentId);
    if (!record) return;
    const owner = await statistics.ownerOf(counted.generation, counted.batch);
    const wanted = countedFor(record);
    if (owner === wanted) return;
    if (owner !== null) await statistics.forget(counted, owner);
    if (wanted !== null && !(await statistics.count(counted, wanted))) return;
  }
}
