import { batchCount, batchNumbers } from '../shared/batches.js';
import type { Chunks } from '../shared/chunks.js';
import { settledField } from '../shared/count-scripts.js';
import { generationId, type DocumentRecord } from '../shared/document.js';
import { documentTags, type ExpectedField, type Records } from '../shared/records.js';
import type { TermStatisticsStore } from '../shared/term-statistics.js';
import { isSettled } from '../shared/term-parts.js';
import { countedFor, finishRetag } from '../shared/transitions.js';
import { settleCount } from './settle-count.js';
import { expectedTags, tagsWhenPublished, writeAllTags } from './tags.js';
import type { Outcome } from './worker.js';

/** Brings the tags of a document's chunks, and its owner's term statistics, up to its access lists and metadata. */
export function createRetagJob({
  records,
  chunks,
  statistics,
}: {
  records: Records;
  chunks: Chunks;
  statistics: TermStatisticsStore;
}) {
  /** @returns what the generation says when it is done */
  const retag = async (
    record: DocumentRecord,
    generation: string | null,
    tagsOf: (of: DocumentRecord) => string,
  ): Promise<ExpectedField[]> => {
    const { id: documentId } = record;
    const { chunks: count = 0 } = (generation === null ? null : await chunks.generation(generation)) ?? {};
    if (generation === null || count === 0) return [];
    if (!(await writeAllTags({ records, chunks }, record, { generation, count, tagsOf }))) return [];
    const owner = countedFor(record);
    const settled: ExpectedField[] = [];
    const states = await statistics.states(generation, batchCount(count));
    for (const [batch, state] of states.entries()) {
      const readTerms = () => chunks.readTerms(generation, batchNumbers(batch, count));
      const isDone =
        isSettled(state, owner) ||
        (await settleCount({ records, statistics }, { documentId, generation, batch }, readTerms));
      if (isDone) settled.push({ generation, ...settledField(batch, owner) });
    }
    return [expectedTags(generation, tagsOf(record), count), ...settled];
  };

  return async ({ documentId, mark }: { documentId: string; mark: number }): Promise<Outcome> => {
    let expected: ExpectedField[] = [];
    // Changed meanwhile, it may be by one whose job was here too early: it is looked at again.
    for (let written: string | null = null; ;) {
      const record = await records.read(documentId);
      if (record === null || (written === null && record.retag !== mark)) return 'stale';
      const tags = JSON.stringify([documentTags(record), tagsWhenPublished(record)]);
      if (tags === written) break;
      expected = [
        ...(await retag(record, record.published?.generation ?? null, documentTags)),
        ...(record.pending ? await retag(record, generationId(record), tagsWhenPublished) : []),
      ];
      written = tags;
    }
    await records.update(documentId, (each) => {
      const change = finishRetag(each, mark);
      return change && { ...change, expected };
    });
    return 'done';
  };
}
