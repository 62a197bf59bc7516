import { itemIdOf } from '../../../../shared/idempotency/reservation.js';
import type { Logger } from '../../../../shared/observability/logger.js';
import { nextSlice } from '../../../../shared/tools/time-slices.js';
import type { RequestContext } from '../../request-context.js';
import type { AdmitSome } from '../admission.js';
import type { Arrival } from '../arriving.js';
import type { BeginAgain } from '../answer-again.js';
import type { ChangeWaiter } from '../change-waiter.js';
import { sha256Of, type OnDuplicate } from '../duplicates.js';
import type { IncomingGroups, IncomingItem } from '../incoming-items.js';
import { begunOperation, newRecord, type IngestParts, type TextIngest } from '../ingest.js';
import { createDocumentsWait, type DocumentsWait } from './documents-wait.js';
import { settleInOrder } from './settle-in-order.js';
import { storeUnlessKnown } from './known-contents.js';
import { settleItems } from './settle-items.js';
import { storeRecords } from './store-records.js';
import { answerWritten } from './written-items.js';
import type { Candidate, ItemOutcome, NewDocument, StoredItem } from './outcomes.js';

export interface BatchParts extends Omit<IngestParts, 'waitForDocument'> {
  readonly beginAgain: BeginAgain;
  readonly admitSome: AdmitSome;
  readonly waiter: ChangeWaiter;
  readonly logger: Logger;
  /** How long callers wait that do not state it. */
  readonly waitSeconds: number;
}

/** The outcomes of a batch that is stored, which references nothing of the request any more. */
export interface AwaitedBatch {
  /** Memory that the wait holds. */
  readonly heldBytes: number;
  /** In the order of the items. Never rejects. */
  readonly settled: Promise<readonly ItemOutcome[]>;
}

export interface BatchIngest {
  /** Resolves when all texts are stored. One deadline holds for all waits. */
  ingestTexts(groups: IncomingGroups<TextIngest>, context: RequestContext): Promise<AwaitedBatch>;
  /** Stores texts while they arrive, and returns the outcomes of each group in order, when they are settled. */
  ingestStream(
    groups: IncomingGroups<TextIngest>,
    context: RequestContext,
  ): AsyncIterable<readonly ItemOutcome[]>;
}

/** Estimated memory of an item whose document is waited for. */
export const ITEM_BYTES = 500;

export function createBatchIngest(parts: BatchParts): BatchIngest {
  return {
    ingestTexts: async (groups, context) => {
      const wait = openWait(parts, context);
      const stored: StoredItem[] = [];
      try {
        for await (const group of storeGroups({ ...parts, wait }, groups, context)) stored.push(...group);
      } catch (error) {
        wait.close();
        throw error;
      }
      const settled = settleItems(parts, wait, stored).finally(() => {
        wait.close();
      });
      return { heldBytes: ITEM_BYTES * stored.length, settled };
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

/** Begins to wait for documents of a request, from now on. */
export function openWait(
  { records, waiter, logger, waitSeconds: usualSeconds }: BatchParts,
  { waitSeconds, signal }: RequestContext,
): DocumentsWait {
  const milliseconds = 1_000 * (waitSeconds ?? usualSeconds);
  return createDocumentsWait({ records, waiter, logger, milliseconds, signal });
}

interface StoreParts extends BatchParts {
  readonly wait: DocumentsWait;
}

/** Stores one group after the other. Stops at the end of a group when the caller has gone away. */
async function* storeGroups(
  parts: StoreParts,
  groups: IncomingGroups<TextIngest>,
  context: RequestContext,
): AsyncGenerator<readonly StoredItem[]> {
  for await (const group of groups) {
    yield await storeTexts(parts, group, context);
    if (context.signal.aborted) return;
  }
}

/** Stores and announces the texts of a group. An error is of the item that it happened to. */
async function storeTexts(
  parts: StoreParts,
  group: readonly IncomingItem<TextIngest>[],
  context: RequestContext,
): Promise<StoredItem[]> {
  const refused = group.flatMap(({ index, item, error }) => (item ? [] : [{ index, error }]));
  const texts = group.flatMap(({ index, item, digest }): Text[] =>
    item ? [toText(index, item, digest)] : [],
  );
  const earlier = await attempt(texts, () => answerWritten(parts, texts, context));
  const answered = new Set(earlier.map(({ index }) => index));
  const open = texts.filter(({ index }) => !answered.has(index));
  const { duplicates, wait } = parts;
  const store = (items: readonly Text[]) => storeAdmitted(parts, items, context);
  const stored = await storeUnlessKnown({ duplicates, wait, ownerId: context.callerId, store }, open);
  return [...refused, ...earlier, ...stored].sort((a, b) => a.index - b.index);
}

interface Text extends Candidate {
  readonly text: TextIngest;
  /** Of the line that it was, if that is to be compared later. */
  readonly digest?: string | undefined;
}

function toText(index: number, text: TextIngest, digest: string | undefined): Text {
  const { content, onDuplicate } = text;
  let sha256: string | null = null;
  return { index, text, digest, onDuplicate, sha256: () => (sha256 ??= sha256Of(content)) };
}

/** Where nothing can be found out, that is the answer for each of the items. */
async function attempt(
  items: readonly Text[],
  action: () => Promise<StoredItem[]>,
): Promise<readonly StoredItem[]> {
  try {
    return await action();
  } catch (error) {
    return items.map(({ index }) => ({ index, error }));
  }
}

/** Admits, stores and announces texts. */
async function storeAdmitted(
  parts: StoreParts,
  texts: readonly Text[],
  context: RequestContext,
): Promise<StoredItem[]> {
  const admission = await admit(parts, context.callerId, texts.length);
  try {
    const make = async (text: Text, i: number) => {
      const { index } = text;
      if (i >= admission.admitted) return { index, error: admission.refusal };
      try {
        return { index, created: await storeText(parts, text, context) };
      } catch (thrown) {
        return { index, error: thrown };
      }
    };
    const making: ReturnType<typeof make>[] = [];
    for (const [i, text] of texts.entries()) {
      await nextSlice();
      making.push(make(text, i));
    }
    const made = await Promise.all(making);
    const documents = made.flatMap(({ created }) => created ?? []);
    for (const { record } of documents) admission.arrival?.becomes(record.id);
    const stored = await storeRecords(parts, documents, context);
    const refused = made.flatMap(({ index, created, error }) => (created ? [] : [{ index, error }]));
    return [...stored, ...refused];
  } finally {
    admission.arrival?.leave();
  }
}

/** Resolves with the reason where not all are admitted, also when nothing could be found out. */
async function admit(
  { admitSome }: StoreParts,
  callerId: string,
  wanted: number,
): Promise<{ admitted: number; refusal: unknown; arrival: Arrival | null }> {
  try {
    return await admitSome(callerId, wanted);
  } catch (error) {
    return { admitted: 0, refusal: error, arrival: null };
  }
}

async function storeText(
  { sources, accounting }: StoreParts,
  { index, digest, text }: Text,
  context: RequestContext,
): Promise<NewDocument> {
  const { content: characters, filename, metadata, accessControl, onDuplicate } = text;
  const documentId = itemIdOf(context.reservation, index);
  const operation = begunOperation('ingest_text', context, filename === null ? {} : { filename });
  const store = () => sources.storeText({ documentId, version: 1 }, characters);
  const { content, source } = await accounting.begin(operation, store);
  const details = { documentId, metadata, accessControl };
  return {
    index,
    record: newRecord({ ...content, filename }, details, context),
    source,
    lineDigest: digest,
    ...duplicateRules(onDuplicate, context),
  };
}

/** What a new record of an item has to heed. */
export const duplicateRules = (onDuplicate: OnDuplicate, { reservation }: RequestContext) => ({
  onDuplicate,
  onlyNewContent: onDuplicate !== 'new',
  reservation,
});
