import { requireRight } from '../../../../shared/access/access.js';
import { at } from '../../../../shared/at.js';
import type { DocumentRecord } from '../../../../shared/document.js';
import { OtherLineError } from '../../../../shared/errors.js';
import { itemIdOf } from '../../../../shared/idempotency/reservation.js';
import type { RequestContext } from '../../request-context.js';
import type { BeginAgain } from '../answer-again.js';
import type { IngestParts } from '../ingest.js';
import type { DocumentsWait } from './documents-wait.js';
import type { StoredItem } from './items.js';

/** Records that are read at once, one at least. */
const READ_BYTES = 1024 ** 2;

export interface WrittenParts extends Pick<IngestParts, 'records'> {
  readonly beginAgain: BeginAgain;
  readonly wait: DocumentsWait;
}

interface RepeatedItem {
  readonly index: number;
  /** For lines of a stream, which are compared one by one. */
  readonly digest?: string | undefined;
}

/**
 * Answers the items for which an earlier run at the same request has made a document, from that document. It begins to wait
 * for it. The others are left out: they are still to be stored.
 */
export async function answerWritten(
  parts: WrittenParts,
  items: readonly RepeatedItem[],
  context: RequestContext,
): Promise<StoredItem[]> {
  const { reservation } = context;
  if (reservation?.hasCreated !== true || items.length === 0) return [];
  const ids = items.map(({ index }) => itemIdOf(reservation, index));
  const digests = items.some(({ digest }) => digest !== undefined)
    ? await parts.records.readLineDigests(ids)
    : null;
  const answers: StoredItem[] = [];
  for (let first = 0; first < ids.length;) {
    const read = await parts.records.readSomeFor(context.callerId, ids.slice(first), {
      enoughBytes: READ_BYTES,
      signal: context.signal,
    });
    for (const [i, record] of read.entries()) {
      if (!record) continue;
      const item = at(items, first + i);
      const isSame = !digests || digests[first + i] === item.digest;
      answers.push(isSame ? await answer(parts, item, { record, context }) : otherLine(item));
    }
    first += read.length;
  }
  return answers;
}

const otherLine = ({ index }: RepeatedItem): StoredItem => ({ index, error: new OtherLineError() });

async function answer(
  { beginAgain, wait }: WrittenParts,
  { index }: RepeatedItem,
  { record, context }: { readonly record: DocumentRecord; readonly context: RequestContext },
): Promise<StoredItem> {
  try {
    requireRight(context.principal, record, 'read');
    const begun = await beginAgain(record, context);
    if (!begun) return { index, documentId: record.id, status: record.status };
    wait.addKnown([begun.id]);
    return { index, documentId: begun.id, status: begun.status };
  } catch (error) {
    return { index, error };
  }
}
