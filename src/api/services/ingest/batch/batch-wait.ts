import { waitMilliseconds, type RequestContext, type WaitLimits } from '../../request-context.js';
import { createDocumentsWait, type DocumentsWait, type DocumentsWaitParts } from './documents-wait.js';
import type { ItemOutcome, StoredItem } from './items.js';
import { settleItems, type SettleParts } from './settle-items.js';

export type BatchWaitParts = SettleParts &
  Pick<DocumentsWaitParts, 'records' | 'waiter' | 'logger'> & {
    /** The time that callers wait who do not state one. */
    readonly waitSeconds: number;
  };

/** The outcomes of a batch that is stored, which references nothing of the request any more. */
export interface AwaitedBatch {
  /** Memory that the wait holds. */
  readonly heldBytes: number;
  /** In the order of the items. Never rejects. */
  readonly settled: Promise<readonly ItemOutcome[]>;
}

/** Estimated memory of an item whose document is waited for. */
const ITEM_BYTES = 500;

/** Begins to wait for documents of a request, from now on. */
export function openWait(
  { records, waiter, logger, waitSeconds: usualSeconds }: BatchWaitParts,
  { signal, ...limits }: WaitLimits & Pick<RequestContext, 'signal'>,
): DocumentsWait {
  const milliseconds = waitMilliseconds(limits, usualSeconds);
  return createDocumentsWait({ records, waiter, logger, milliseconds, signal });
}

/** Waits for all that is stored of a batch, and then closes the wait. */
export function settleAll(
  parts: SettleParts,
  wait: DocumentsWait,
  stored: readonly StoredItem[],
): AwaitedBatch {
  const settled = settleItems(parts, wait, stored).finally(() => {
    wait.close();
  });
  return { heldBytes: ITEM_BYTES * stored.length, settled };
}
