import type { DocumentRecord } from '../../shared/document.js';
import type { Logger } from '../../shared/logger.js';
import type { Records } from '../../shared/records.js';
import type { Prefer } from '../route.js';
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
