import type { DocumentRecord, DocumentState } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import type { Logger } from '../../../shared/observability/logger.js';
import { beginSpan } from '../../../shared/tracing/tracing.js';
import { waitMilliseconds, type RequestContext, type WaitLimits } from '../request-context.js';
import { heldByRecord } from '../answer-memory/answer-memory.js';
import type { ChangeWaiter } from './change-waiter.js';

export interface WaitOptions extends WaitLimits, Pick<RequestContext, 'signal'> {
  /** True when nobody else can have changed the record yet; then it is not read before the first change. */
  readonly isNew?: boolean;
}

export type IsDone = (state: DocumentState) => boolean;

/** Waits until `isDone` is true for a document. Resolves with its record after that; null when it was deleted. */
export type WaitForDocument = (
  record: DocumentRecord,
  isDone: IsDone,
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
  { isDone, ...options }: WaitOptions & { isDone: IsDone },
): AwaitedDocument {
  if (!record) return { heldBytes: 0, settled: Promise.resolve(null) };
  const settled = waitForDocument(record, isDone, options);
  return { heldBytes: heldByRecord(record), settled };
}

/** A record that holds at most this much is read whole at each change, which saves a round trip. */
const SMALL_BYTES = 32 * 1024;

export function createWaitForDocument({
  records,
  waiter,
  logger,
  waitSeconds: usualSeconds,
}: {
  readonly records: Pick<Records, 'read' | 'readState'>;
  readonly waiter: ChangeWaiter;
  readonly logger: Logger;
  /** The time that callers wait who do not state one. */
  readonly waitSeconds: number;
}): WaitForDocument {
  return async (record, isDone, { signal, isNew = false, ...limits }) => {
    const milliseconds = waitMilliseconds(limits, usualSeconds);
    if (milliseconds === 0 || isDone(record)) return record;
    const wait = {
      id: record.id,
      ...(isNew ? { known: record } : {}),
      isDone: (current: DocumentState | null) => current === null || isDone(current),
      milliseconds,
      signal,
    };
    const span = beginSpan('wait for document', { attributes: { 'quire.document.id': record.id } });
    try {
      // A whole record may be a megabyte of access lists, so such a one is read once, at the end.
      const isSmall = heldByRecord(record) <= SMALL_BYTES;
      const read = () => records.read(record.id);
      if (isSmall) return await waiter.waitFor<DocumentRecord | null>({ ...wait, read });
      const readState = () => records.readState(record.id);
      const state = await waiter.waitFor<DocumentState | null>({ ...wait, read: readState });
      if (signal.aborted || state === record) return record;
      return state && (await read());
    } catch (error) {
      // The request is stored and its work goes on. An error would make the client send it again.
      logger.warn({ err: error, documentId: record.id }, 'wait for a document broke off');
      span.fail(error);
      return record;
    } finally {
      span.end();
    }
  };
}
