import type { DocumentRecord } from '../../../../shared/document.js';
import { DuplicateError } from '../../../../shared/errors.js';
import type { Duplicates } from '../duplicates.js';
import type { DocumentsWait } from './documents-wait.js';
import type { OpenItem, StoredItem } from './items.js';

/** Whole records are read, each of which may be a megabyte of access lists. */
const LOOKS_AT_ONCE = 16;

interface Storing<Item> {
  readonly duplicates: Pick<Duplicates, 'find'>;
  readonly wait: DocumentsWait;
  readonly ownerId: string;
  /** Stores items none of which has to be compared with another one of them. */
  readonly store: (items: readonly Item[]) => Promise<readonly StoredItem[]>;
  /** Is called for an item that is not stored. */
  readonly drop?: (item: Item) => Promise<void>;
}

/**
 * Stores items, except for those whose content is there already and is not to be made again (`onDuplicate`). One that has the
 * content of an earlier item waits until that is stored, so that the first of them makes the document.
 */
export async function storeUnlessKnown<Item extends OpenItem>(
  storing: Storing<Item>,
  items: readonly Item[],
): Promise<StoredItem[]> {
  if (items.every(({ onDuplicate }) => onDuplicate === 'new')) return [...(await storing.store(items))];
  const stored: StoredItem[] = [];
  for (let left = items; left.length > 0;) {
    const { answered, open } = await answerAllKnown(storing, left);
    const { now, later } = splitByContent(open);
    stored.push(...answered, ...(await storing.store(now)));
    left = later;
  }
  return stored;
}

/** What is answered for an item whose content a document has already. */
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
  { duplicates, wait, ownerId, drop }: Storing<Item>,
  items: readonly Item[],
): Promise<{ answered: StoredItem[]; open: Item[] }> {
  const look = async (item: Item): Promise<StoredItem | null> => {
    if (item.onDuplicate === 'new') return null;
    try {
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
  if (drop) await Promise.all(dropped.map(drop));
  return {
    answered: answers.filter((answer) => answer !== null),
    open: items.filter((_, i) => answers[i] === null),
  };
}

/** Keeps back those that may not have the content of an earlier one, and those that have the content of one kept back. */
function splitByContent<Item extends OpenItem>(items: readonly Item[]): { now: Item[]; later: Item[] } {
  const [seen, kept] = [new Set<string>(), new Set<string>()];
  const [now, later]: [Item[], Item[]] = [[], []];
  for (const item of items) {
    const sha256 = item.sha256();
    if (kept.has(sha256) || (item.onDuplicate !== 'new' && seen.has(sha256))) {
      kept.add(sha256);
      later.push(item);
    } else now.push(item);
    seen.add(sha256);
  }
  return { now, later };
}
