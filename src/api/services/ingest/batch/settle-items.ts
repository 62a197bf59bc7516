import type { DocumentRecord, Failure } from '../../../../shared/document.js';
import type { Records } from '../../../../shared/documents/records.js';
import {
  AppError,
  DuplicateDeletedError,
  TryLaterError,
  UnavailableError,
} from '../../../../shared/errors.js';
import type { Logger } from '../../../../shared/observability/logger.js';
import { toUnavailable } from '../../../../shared/redis/client.js';
import { documentNotFound } from '../../documents/document-access.js';
import type { DocumentsWait } from './documents-wait.js';
import type { ItemOutcome, StoredItem } from './items.js';

export interface SettleParts {
  readonly records: Pick<Records, 'read'>;
  readonly logger: Logger;
}

/** Waits for the documents of stored items. Never rejects. */
export function settleItems(
  parts: SettleParts,
  wait: DocumentsWait,
  items: readonly StoredItem[],
): Promise<readonly ItemOutcome[]> {
  noteFaults(parts.logger, items);
  return Promise.all(items.map((item) => settle(parts, wait, item)));
}

async function settle(parts: SettleParts, wait: DocumentsWait, item: StoredItem): Promise<ItemOutcome> {
  const { index, documentId } = item;
  if (documentId === undefined) return { index, type: 'refused', error: item.error };
  const state = await wait.stateOf(documentId);
  if (state === null) {
    const error = item.wasThere === true ? new DuplicateDeletedError() : documentNotFound();
    return { index, type: 'refused', error };
  }
  const status = state?.status ?? item.status;
  const failure = status === 'failed' ? await readFailure(parts, documentId) : null;
  return { index, type: 'document', documentId, status, failure };
}

/**
 * Logs the errors of items. The request as a whole does not fail of an item's error, so that no other log line tells of it.
 * The caller is told of a fault of ours without its reason. A passing error is likely to be the same for many items, and is
 * told once.
 */
function noteFaults(logger: Logger, items: readonly StoredItem[]): void {
  const errors = items.flatMap(({ documentId, error }) =>
    documentId === undefined ? [toUnavailable(error)] : [],
  );
  const passing = errors.filter(
    (error) => error instanceof UnavailableError || error instanceof TryLaterError,
  );
  if (passing.length > 0)
    logger.warn({ err: passing[0], items: passing.length }, 'items of a batch refused for now');
  for (const error of errors)
    if (!(error instanceof AppError || error instanceof UnavailableError))
      logger.error({ err: error }, 'an item of a batch failed');
}

async function readFailure({ records, logger }: SettleParts, documentId: string): Promise<Failure | null> {
  try {
    const record: DocumentRecord | null = await records.read(documentId);
    return record?.error ?? null;
  } catch (error) {
    logger.warn({ err: error, documentId }, 'the reason of a failed ingest cannot be read');
    return null;
  }
}
