import type { DocumentRecord } from '../../shared/document.js';
import type { Logger } from '../../shared/logger.js';
import type { Records } from '../../shared/records.js';
import type { Prefer } from '../route.js';
import { heldByRecord } from './held-size.js';
import type { ChangeWaiter } from './waiting.js';

/** How long a request is ready to wait for what it asked; an ApiRequest is one. */
export interface Patience {
  readonly prefer: Prefer;
  readonly signal: AbortSignal;
}

export interface SettleOptions extends Patience {
  /** Nobody but the caller can have changed the record so far: it need not be read before the first change. */
  readonly isNew?: boolean;
}

/** Waits until a record is as asked; resolves with it as it then stands, null when it was deleted meanwhile. */
export type Settle = (
  record: DocumentRecord,
  isDone: (record: DocumentRecord) => boolean,
  options: SettleOptions,
) => Promise<DocumentRecord | null>;

/** What waits for a document that is written. It holds on to the record, and to nothing else of the request. */
export interface Settling {
  /** Of memory, meanwhile. */
  readonly heldBytes: number;
  readonly settled: Promise<DocumentRecord | null>;
}

/** Begins to wait, if there is (still) a record; never rejects. */
export function beginSettling(
  settle: Settle,
  record: DocumentRecord | null,
  { isDone, ...options }: SettleOptions & { readonly isDone: (record: DocumentRecord) => boolean },
): Settling {
  if (!record) return { heldBytes: 0, settled: Promise.resolve(null) };
  return { heldBytes: heldByRecord(record), settled: settle(record, isDone, options) };
}

/** Of a request: it would hold on to its body. */
export const patienceOf = ({ prefer, signal }: Patience): Patience => ({ prefer, signal });

export function createSettling({
  records,
  waiter,
  logger,
  waitSeconds,
}: {
  readonly records: Pick<Records, 'read'>;
  readonly waiter: ChangeWaiter;
  readonly logger: Logger;
  /** For requests that do not say. */
  readonly waitSeconds: number;
}): Settle {
  return async (record, isDone, { prefer, signal, isNew = false }) => {
    const seconds = prefer.waitSeconds ?? (prefer.respondAsync ? 0 : waitSeconds);
    if (seconds === 0 || isDone(record)) return record;
    try {
      return await waiter.waitFor({
        id: record.id,
        read: () => records.read(record.id),
        ...(isNew ? { known: record } : {}),
        isDone: (current) => current === null || isDone(current),
        ...{ milliseconds: seconds * 1000, signal },
      });
    } catch (error) {
      // What was asked is written and goes on: an error would make the client ask for it twice.
      logger.warn({ err: error, documentId: record.id }, 'wait for a document broke off');
      return record;
    }
  };
}
