import type { Failure } from '../../../../shared/document.js';
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
import type { RequestContext } from '../../request-context.js';
import { waitMilliseconds, type WaitLimits } from '../waits.js';
import { createDocumentsWait, type DocumentsWait, type DocumentsWaitParts } from './documents-wait.js';
import type { ItemOutcome, StoredItem } from './items.js';

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
export function settleAll(parts: SettleParts, wait: DocumentsWait, stored: StoredOf): AwaitedBatch {
  const settled = settleItems(parts, wait, stored).finally(() => {
    wait.close();
  });
  return { heldBytes: ITEM_BYTES * stored.items.length, settled };
}

interface SettleParts {
  readonly records: Pick<Records, 'read' | 'inTurn'>;
  readonly logger: Logger;
}

/** The items of a caller that are stored. */
interface StoredOf {
  readonly callerId: string;
  readonly items: readonly StoredItem[];
}

/** Waits for the documents of stored items. Never rejects. */
export function settleItems(
  parts: SettleParts,
  wait: DocumentsWait,
  { callerId, items }: StoredOf,
): Promise<readonly ItemOutcome[]> {
  noteFaults(parts.logger, items);
  const failureOf = (documentId: string) => readFailure(parts, callerId, documentId);
  return Promise.all(items.map((item) => settle(failureOf, wait, item)));
}

type FailureOf = (documentId: string) => Promise<Failure | null>;

async function settle(failureOf: FailureOf, wait: DocumentsWait, item: StoredItem): Promise<ItemOutcome> {
  const { index, documentId } = item;
  if (documentId === undefined) return { index, type: 'refused', error: item.error };
  const state = await wait.stateOf(documentId);
  if (state === null) {
    const error = item.wasThere === true ? new DuplicateDeletedError() : documentNotFound();
    return { index, type: 'refused', error };
  }
  const status = state?.status ?? item.status;
  const failure = status === 'failed' ? await failureOf(documentId) : null;
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

async function readFailure(
  { records, logger }: SettleParts,
  callerId: string,
  documentId: string,
): Promise<Failure | null> {
  try {
    const record = await records.inTurn(callerId, () => records.read(documentId));
    return record?.error ?? null;
  } catch (error) {
    logger.warn({ err: error, documentId }, 'the reason of a failed ingest cannot be read');
    return null;
  }
}

/** Beyond this number of items whose outcomes are not taken yet, no more are stored. Each takes less than a kilobyte. */
const MAX_AHEAD = 2_048;

type Settle = (group: readonly StoredItem[]) => Promise<readonly ItemOutcome[]>;

interface Begun {
  readonly outcomes: Promise<readonly ItemOutcome[]>;
}

/**
 * Settles groups of items while more are stored, and returns their outcomes in order. A consumer that does not take the
 * outcomes stops the storing: the memory does not grow with the length of the stream.
 */
export async function* settleInOrder(
  groups: AsyncIterable<readonly StoredItem[]>,
  settle: Settle,
): AsyncGenerator<readonly ItemOutcome[]> {
  const iterator = groups[Symbol.asyncIterator]();
  const begun: Begun[] = [];
  let ahead = 0;
  let next: Promise<IteratorResult<readonly StoredItem[]>> | null = iterator.next();
  try {
    while (next || begun.length > 0) {
      const [first] = begun;
      const storing = next && ahead < MAX_AHEAD ? next.then((result) => ({ result })) : null;
      const settling = first?.outcomes.then((outcomes) => ({ outcomes })) ?? null;
      const event = await Promise.race([storing, settling].filter((each) => each !== null));
      if ('outcomes' in event) {
        begun.shift();
        ahead -= event.outcomes.length;
        yield event.outcomes;
      } else if (event.result.done === true) {
        next = null;
      } else {
        ahead += event.result.value.length;
        begun.push({ outcomes: settle(event.result.value) });
        next = iterator.next();
      }
    }
  } finally {
    // A consumer that stops here does not wait for the group being read. Its own end of the connection tells it.
    next?.catch(() => undefined);
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}
