import { BATCH_SIZE, type Chunks } from '../shared/chunks.js';
import type { DocumentRecord } from '../shared/document.js';
import { documentTags } from '../shared/records.js';

/** Tags as they will be once the pending content is the published one. */
export function tagsWhenPublished(record: DocumentRecord): string {
  return documentTags(record.pending ? { ...record, published: record.pending, pending: null } : record);
}

export async function writeAllTags(
  chunks: Chunks,
  { generation, count, tags }: { generation: string; count: number; tags: string },
): Promise<void> {
  for (let first = 0; first < count; first += BATCH_SIZE) {
    const numbers = Array.from({ length: Math.min(BATCH_SIZE, count - first) }, (_, i) => first + i);
    await chunks.writeTags(generation, numbers, tags);
  }
}
