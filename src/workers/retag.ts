import { batchCount, batchNumbers, type Chunks } from '../shared/chunks.js';
import { generationId, type DocumentRecord } from '../shared/document.js';
import { documentTags, type Records } from '../shared/records.js';
import type { TermStatisticsStore } from '../shared/term-statistics.js';
import { countedFor, finishRetag } from '../shared/transitions.js';
import { tagsWhenPublished, writeAllTags } from './tags.js';
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
  const retag = async (record: DocumentRecord, generation: string, tags: string) => {
    const info = await chunks.generation(generation);
    if (!info || info.chunks === 0) return;
    await writeAllTags(chunks, { generation, count: info.chunks, tags });
    const wanted = countedFor(record);
    const counted = await statistics.countedFor(generation, batchCount(info.chunks));
    for (const [batch, owner] of counted.entries()) {
      if (owner === wanted) continue;
      const packed = await chunks.readTerms(generation, batchNumbers(batch, info.chunks));
      const terms = packed.filter((each) => each !== null);
      if (terms.length === 0) continue;
      if (owner !== null) await statistics.forget({ generation, batch, terms }, owner);
      if (wanted !== null) await statistics.count({ generation, batch, terms }, wanted);
    }
  };

  return async ({ documentId, mark }: { documentId: string; mark: number }): Promise<Outcome> => {
    // A twin of this job may write what it read earlier: whoever writes last looks again.
    for (let written: string | null = null; ;) {
      const record = await records.read(documentId);
      if (record === null || (written === null && record.retag !== mark)) return 'stale';
      const tags = { published: documentTags(record), pending: tagsWhenPublished(record) };
      if (JSON.stringify(tags) === written) break;
      if (record.published?.generation) await retag(record, record.published.generation, tags.published);
      if (record.pending) await retag(record, generationId(record), tags.pending);
      written = JSON.stringify(tags);
    }
    await records.update(documentId, (each) => finishRetag(each, mark));
    return 'done';
  };
}
