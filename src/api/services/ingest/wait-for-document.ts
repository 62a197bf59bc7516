import type { DocumentRecord } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import type { Logger } from '../../../shared/observability/logger.js';
import type { RequestContext } from '../request-context.js';
import { heldByRecord } from '../answer-memory/memory-estimate.js';
import type { ChangeWaiter } from './change-waiter.js';

export interface WaitOptions extends Pick<RequestContext, 'waitSeconds' | 'signal'> {
  /** True when nobody else can have changed the record yet; then it is not read before the first change. */
  readonly isNew?: boolean;
}

/** Waits until `isDone` is true for a record. Resolves with the record at that time; null when it was deleted. */
export type WaitForDocument = (
  record: DocumentRecord,
  isDone: (record: DocumentRecord) => boolean,
  options: WaitOptions,
) => Promise<DocumentRecord | null>;

/** A document that is stored and waited for. It references the record, and nothing else of the request. */
export interface AwaitedDocument {
  /** Memory that the wait holds. */
  readonly heldBytes: number;
  readonly settled: Promise<DocumentRecord | null>;
}

/** Begins to wait, if there is a record. The returned promise never rejects. */
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
  /** How long callers wait that do not state it. */
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
      // The request is stored and its work goes on. An error would make the client send it again.
      logger.warn({ err: error, documentId: record.id }, 'wait for a document broke off');
      return record;
    }
  };
}
