import type { DocumentRecord } from '../../../../shared/document.js';
import { DuplicateError, TooManyError, TryLaterError, UnavailableError } from '../../../../shared/errors.js';
import { toUnavailable } from '../../../../shared/redis/client.js';
import type { Duplicates } from '../duplicates.js';
import type { KnownSources } from '../known-sources.js';
import type { DocumentsWait } from './documents-wait.js';
import type { OpenItem, StoredItem } from './items.js';

/** The number of records that are read at once. They are read whole, and each may have a megabyte of access lists. */
const LOOKS_AT_ONCE = 16;

interface Storing<Item> {
  readonly duplicates: Pick<Duplicates, 'find'>;
  readonly knownSources: Pick<KnownSources, 'find'>;
  readonly wait: DocumentsWait;
  readonly ownerId: string;
  /** Stores items that need not be compared with each other. */
  readonly store: (items: readonly Item[]) => Promise<readonly StoredItem[]>;
  /** Called for an item that is not stored. */
  readonly drop?: (item: Item) => Promise<void>;
}

/**
 * Stores items, except for items whose content exists already and is not to be made again (`onDuplicate`). An item with the
 * content of an earlier one waits until that is stored, so that the first of them makes the document. So does an item of the
 * source of an earlier one, so that the last of them is its content.
 */
export async function storeUnlessKnown<Item extends OpenItem>(
  storing: Storing<Item>,
  items: readonly Item[],
): Promise<StoredItem[]> {
  if (items.every(({ onDuplicate, sourceId }) => onDuplicate === 'new' && sourceId === undefined))
    return [...(await storing.store(items))];
  const stored: StoredItem[] = [];
  for (let left = items; left.length > 0;) {
    const { answered, open } = await answerAllKnown(storing, left);
    const { now, later } = splitByContent(open);
    const ends = await storing.store(now);
    const refusals = findRefusals(now, ends);
    const refused = later.filter((item) => refusals.has(item.sha256()));
    await dropAll(storing, refused);
    stored.push(...answered, ...ends);
    stored.push(...refused.map((item) => ({ index: item.index, error: refusals.get(item.sha256()) })));
    left = later.filter((item) => !refusals.has(item.sha256()));
  }
  return stored;
}

/**
 * The contents for which there was no room, or nothing could be found out, with the errors. The items that have waited for one
 * of them are refused as well: trying them one after the other would look each of them up as often as there are others.
 */
function findRefusals(items: readonly OpenItem[], ends: readonly StoredItem[]): ReadonlyMap<string, unknown> {
  const errors = new Map(ends.flatMap(({ index, error }) => (isPassing(error) ? [[index, error]] : [])));
  return new Map(
    items.flatMap((item) => (errors.has(item.index) ? [[item.sha256(), errors.get(item.index)]] : [])),
  );
}

function isPassing(thrown: unknown): boolean {
  const error = toUnavailable(thrown);
  return [TooManyError, TryLaterError, UnavailableError].some((kind) => error instanceof kind);
}

async function dropAll<Item extends OpenItem>(
  { drop }: Pick<Storing<Item>, 'drop'>,
  items: readonly Item[],
): Promise<void> {
  if (drop) await Promise.all(items.map(drop));
}

/** Returns the answer for an item whose content a document has already. */
export function answerKnown(
  wait: DocumentsWait,
  { index, onDuplicate }: Pick<OpenItem, 'index' | 'onDuplicate'>,
  { id, status }: DocumentRecord,
): StoredItem {
  if (onDuplicate === 'reject') return { index, error: new DuplicateError(id) };
  wait.addKnown([id]);
  return { index, documentId: id, status, wasThere: true };
}

/** Answers the items whose contents are there already. Where that cannot be found out, the error is the item's. */
async function answerAllKnown<Item extends OpenItem>(
  storing: Storing<Item>,
  items: readonly Item[],
): Promise<{ answered: StoredItem[]; open: Item[] }> {
  const { duplicates, knownSources, wait, ownerId } = storing;
  const look = async (item: Item): Promise<StoredItem | null> => {
    if (item.onDuplicate === 'new') return null;
    try {
      // The document of a known source is to be replaced.
      const { sourceId } = item;
      if (sourceId !== undefined && (await knownSources.find(ownerId, sourceId))) return null;
      const known = await duplicates.find(ownerId, item.sha256());
      return known && answerKnown(wait, item, known);
    } catch (error) {
      return { index: item.index, error };
    }
  };
  const answers: (StoredItem | null)[] = [];
  for (let first = 0; first < items.length; first += LOOKS_AT_ONCE)
    answers.push(...(await Promise.all(items.slice(first, first + LOOKS_AT_ONCE).map(look))));
  const dropped = items.filter((_, i) => answers[i] !== null);
  await dropAll(storing, dropped);
  return {
    answered: answers.filter((answer) => answer !== null),
    open: items.filter((_, i) => answers[i] === null),
  };
}

/**
 * Keeps back items that may not have the content of an earlier one, items of the source of an earlier one, and items with the
 * content of one kept back.
 */
function splitByContent<Item extends OpenItem>(items: readonly Item[]): { now: Item[]; later: Item[] } {
  const [seen, kept, sources] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const [now, later]: [Item[], Item[]] = [[], []];
  for (const item of items) {
    const sha256 = item.sha256();
    const isOfSeen = item.sourceId !== undefined && sources.has(item.sourceId);
    if (isOfSeen || kept.has(sha256) || (item.onDuplicate !== 'new' && seen.has(sha256))) {
      kept.add(sha256);
      later.push(item);
    } else now.push(item);
    seen.add(sha256);
    if (item.sourceId !== undefined) sources.add(item.sourceId);
  }
  return { now, later };
}
