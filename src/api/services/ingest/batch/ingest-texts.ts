import type { RequestContext } from '../../request-context.js';
import type { IncomingGroups } from '../incoming-items.js';
import type { TextIngest } from '../ingest.js';
import { openWait, settleAll, type AwaitedBatch, type BatchWaitParts } from './batch-wait.js';
import type { ItemOutcome, StoredItem } from './items.js';
import { settleInOrder } from './settle-in-order.js';
import { settleItems } from './settle-items.js';
import { storeTexts, type StoreTextsParts } from './store-texts.js';

export type IngestTextsParts = Omit<StoreTextsParts, 'wait'> & BatchWaitParts;

export interface IngestTexts {
  /** Resolves when all texts are stored. One deadline holds for all waits. */
  ingestAll(groups: IncomingGroups<TextIngest>, context: RequestContext): Promise<AwaitedBatch>;
  /** Stores texts while they arrive, and returns the outcomes of each group in order, when they are settled. */
  ingestStream(
    groups: IncomingGroups<TextIngest>,
    context: RequestContext,
  ): AsyncIterable<readonly ItemOutcome[]>;
}

export function createIngestTexts(parts: IngestTextsParts): IngestTexts {
  return {
    ingestAll: async (groups, context) => {
      const wait = openWait(parts, context);
      const stored: StoredItem[] = [];
      try {
        for await (const group of storeGroups({ ...parts, wait }, groups, context)) stored.push(...group);
      } catch (error) {
        wait.close();
        throw error;
      }
      return settleAll(parts, wait, stored);
    },
    ingestStream: async function* (groups, context) {
      const wait = openWait(parts, context);
      try {
        const stored = storeGroups({ ...parts, wait }, groups, context);
        yield* settleInOrder(stored, (group) => settleItems(parts, wait, group));
      } finally {
        wait.close();
      }
    },
  };
}

/** Stores one group after the other. Stops at the end of a group when the caller has gone away. */
async function* storeGroups(
  parts: StoreTextsParts,
  groups: IncomingGroups<TextIngest>,
  context: RequestContext,
): AsyncGenerator<readonly StoredItem[]> {
  for await (const group of groups) {
    yield await storeTexts(parts, group, context);
    if (context.signal.aborted) return;
  }
}
