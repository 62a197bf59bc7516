import { itemIdOf } from '../../../../shared/idempotency/reservation.js';
import { nextSlice } from '../../../../shared/tools/time-slices.js';
import type { RequestContext } from '../../request-context.js';
import type { AdmitSome, Arrival } from '../admission/admission.js';
import { createItemAllowances, type ItemAllowances } from '../admission/byte-allowances.js';
import { sha256Of } from '../duplicates.js';
import type { IncomingGroups, IncomingItem } from '../incoming.js';
import { keepText, type TextIngest, type IngestParts } from '../ingest.js';
import {
  openWait,
  settleAll,
  settleInOrder,
  settleItems,
  type AwaitedBatch,
  type BatchWaitParts,
} from './batch-wait.js';
import type { ItemOutcome, NewItem, OpenItem, StoredItem } from './items.js';
import { storeUnlessKnown } from './known-contents.js';
import { storeItems, type StoreItemsParts } from './store-items.js';
import { answerWritten, type WrittenParts } from './written-items.js';

export type IngestTextsParts = Omit<StoreTextsParts, 'wait'> & BatchWaitParts;

export interface IngestTexts {
  /** Resolves when all texts are stored. One deadline holds for all waits. */
  ingestAll(groups: IncomingGroups<TextIngest>, context: RequestContext): Promise<AwaitedBatch>;
  /** Stores texts while they arrive, and returns the outcomes of each group in order, when they are settled. */
  ingestStream(
    groups: IncomingGroups<TextIngest>,
    context: RequestContext,
  ): AsyncIterable<readonly ItemOutcome[]>;
}

export function createIngestTexts(parts: IngestTextsParts): IngestTexts {
  return {
    ingestAll: async (groups, context) => {
      const wait = openWait(parts, context);
      const stored: StoredItem[] = [];
      try {
        for await (const group of storeGroups({ ...parts, wait }, groups, context)) stored.push(...group);
      } catch (error) {
        wait.close();
        throw error;
      }
      return settleAll(parts, wait, { callerId: context.callerId, items: stored });
    },
    ingestStream: async function* (groups, context) {
      const wait = openWait(parts, context);
      try {
        const stored = storeGroups({ ...parts, wait }, groups, context);
        yield* settleInOrder(stored, (items) =>
          settleItems(parts, wait, { callerId: context.callerId, items }),
        );
      } finally {
        wait.close();
      }
    },
  };
}

/** Stores one group after the other. Stops at the end of a group when the caller has gone away. */
async function* storeGroups(
  parts: StoreTextsParts,
  groups: IncomingGroups<TextIngest>,
  context: RequestContext,
): AsyncGenerator<readonly StoredItem[]> {
  for await (const group of groups) {
    yield await storeTexts(parts, group, context);
    if (context.signal.aborted) return;
  }
}

interface StoreTextsParts
  extends StoreItemsParts, WrittenParts, Pick<IngestParts, 'accounting' | 'collections'> {
  readonly admitSome: AdmitSome;
}

/** Stores and announces the texts of a group. An error is of the item that it happened to. */
async function storeTexts(
  parts: StoreTextsParts,
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
  const { duplicates, knownSources, wait } = parts;
  const store = (items: readonly Text[]) => storeAdmitted(parts, items, context);
  const storing = { duplicates, knownSources, wait, ownerId: context.callerId, store };
  const stored = await storeUnlessKnown(storing, open);
  return [...refused, ...earlier, ...stored].sort((a, b) => a.index - b.index);
}

interface Text extends OpenItem {
  readonly text: TextIngest;
  /** The digest of the line that it was, if that is to be compared later. */
  readonly digest?: string | undefined;
}

function toText(index: number, text: TextIngest, digest: string | undefined): Text {
  const { content, onDuplicate, sourceId } = text;
  let sha256: string | null = null;
  return { index, text, digest, onDuplicate, sourceId, sha256: () => (sha256 ??= sha256Of(content)) };
}

/** Attempts an action for items. Where nothing can be found out, that is the answer for each of the items. */
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
  parts: StoreTextsParts,
  texts: readonly Text[],
  context: RequestContext,
): Promise<StoredItem[]> {
  const admission = await admit(parts, context.callerId, texts.length);
  const items = createItemAllowances();
  try {
    const make = async (text: Text, i: number) => {
      const { index } = text;
      if (i >= admission.admitted) return { index, error: admission.refusal };
      try {
        return { index, created: await storeText(parts, text, { context, items }) };
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
    const stored = await storeItems(parts, documents, context);
    const refused = made.flatMap(({ index, created, error }) => (created ? [] : [{ index, error }]));
    return [...stored, ...refused];
  } finally {
    items.close();
    admission.arrival?.leave();
  }
}

/** Resolves with the reason where not all are admitted, also when nothing could be found out. */
async function admit(
  { admitSome }: StoreTextsParts,
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
  parts: StoreTextsParts,
  { index, digest, text }: Text,
  { context, items }: { readonly context: RequestContext; readonly items: ItemAllowances },
): Promise<NewItem> {
  const documentId = itemIdOf(context.reservation, index);
  return { index, lineDigest: digest, ...(await keepText(parts, text, { documentId, context, items })) };
}
