import type { DocumentRecord } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import type { Logger } from '../../../shared/observability/logger.js';
import type { RequestContext } from '../request-context.js';
import { heldByRecord } from '../retrieval/memory-estimate.js';
import type { ChangeWaiter } from './change-waiter.js';

export interface WaitOptions extends Pick<RequestContext, 'waitSeconds' | 'signal'> {
  /** Nobody but the caller can have changed the record so far: it need not be read before the first change. */
  readonly isNew?: boolean;
}

/** Waits until a record is as asked; resolves with it as it then stands, null when it was deleted meanwhile. */
export type WaitForDocument = (
  record: DocumentRecord,
  isDone: (record: DocumentRecord) => boolean,
  options: WaitOptions,
) => Promise<DocumentRecord | null>;

/** A document that is written and waited for. It holds on to the record, and to nothing else of the request. */
export interface AwaitedDocument {
  /** Of memory, meanwhile. */
  readonly heldBytes: number;
  readonly settled: Promise<DocumentRecord | null>;
}

/** Begins to wait, if there is (still) a record; never rejects. */
export function beginToWait(
  waitForDocument: WaitForDocument,
  record: DocumentRecord | null,
  {
    isDone,
    waitSeconds,
    signal,
    isNew = false,
  }: WaitOptions & { isDone: (record: DocumentRecord) => boolean },
): AwaitedDocument {
  if (!record) return { heldBytes: 0, settled: Promise.resolve(null) };
  const settled = waitForDocument(record, isDone, { waitSeconds, signal, isNew });
  return { heldBytes: heldByRecord(record), settled };
}

export function createWaitForDocument({
  records,
  waiter,
  logger,
  waitSeconds: usualSeconds,
}: {
  readonly records: Pick<Records, 'read'>;
  readonly waiter: ChangeWaiter;
  readonly logger: Logger;
  /** For callers that do not say. */
  readonly waitSeconds: number;
}): WaitForDocument {
  return async (record, isDone, { waitSeconds, signal, isNew = false }) => {
    const seconds = waitSeconds ?? usualSeconds;
    if (seconds === 0 || isDone(record)) return record;
    try {
      return await waiter.waitFor({
        id: record.id,
        read: () => records.read(record.id),
        ...(isNew ? { known: record } : {}),
        isDone: (current) => current === null || isDone(current),
        milliseconds: seconds * 1000,
        signal,
      });
    } catch (error) {
      // What was asked is written and goes on: an error would make the client ask for it twice.
      logger.warn({ err: error, documentId: record.id }, 'wait for a document broke off');
      return record;
    }
  };
}
