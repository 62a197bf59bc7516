import { at } from '../../../../shared/at.js';
import type { RequestContext } from '../../request-context.js';
import type { IngestParts } from '../ingest.js';
import { storeRecords } from '../store-records.js';
import type { DocumentsWait } from './documents-wait.js';
import type { NewItem, StoredItem } from './items.js';
import { answerKnown } from './known-contents.js';

export interface StoreItemsParts extends Pick<
  IngestParts,
  'records' | 'sources' | 'jobs' | 'duplicates' | 'knownSources' | 'replaceSource'
> {
  readonly wait: DocumentsWait;
}

/** Stores the new documents of a batch, and begins to wait for them. */
export async function storeItems(
  parts: StoreItemsParts,
  items: readonly NewItem[],
  context: RequestContext,
): Promise<StoredItem[]> {
  const { wait } = parts;
  const ends = await storeRecords(parts, items, {
    context,
    onWritten: (records) => {
      wait.add(records.map(({ id }) => id));
    },
  });
  return items.map((item, i) => {
    const { index, record } = item;
    const end = at(ends, i);
    switch (end.type) {
      case 'written':
        return { index, documentId: record.id, status: record.status };
      case 'replaced':
        wait.addKnown([end.record.id]);
        return { index, documentId: end.record.id, status: end.record.status };
      case 'known':
        return answerKnown(wait, item, end.record);
      case 'failed':
        return { index, error: end.error };
    }
  });
}
