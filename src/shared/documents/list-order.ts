import { shownContent, type Content, type DocumentRecord } from '../document.js';

export const LIST_KEYS = ['created', 'updated', 'name'] as const;
type ListKey = (typeof LIST_KEYS)[number];

/** The order of a list of documents. Ties are by id, ascending in both directions. */
export interface ListOrder {
  readonly by: ListKey;
  readonly isDescending: boolean;
}

export const NEWEST_FIRST: ListOrder = { by: 'created', isDescending: true };

/** The place of a document in a list: the value that orders the list, and its id. */
export interface Placed {
  readonly id: string;
  readonly value: string;
}

/** A place in a list from which it goes on, whatever has come and gone meanwhile. */
export interface ListPosition extends Placed {
  /** The number of documents before it when the list was made, by which it is found again sooner. */
  readonly rank: number;
}

/** Ids of documents in order, and the place after the last of them; null where nothing follows. */
export interface ListedPage {
  readonly ids: string[];
  readonly next: ListPosition | null;
}

type Listable = Pick<DocumentRecord, 'createdAt' | 'updatedAt' | 'published' | 'pending'>;

export function comparePlaces(a: Placed, b: Placed, { isDescending }: ListOrder): number {
  const byValue = compareTexts(a.value, b.value);
  return (isDescending ? -byValue : byValue) || compareTexts(a.id, b.id);
}

/** Compares texts in the order of UTF-16 units, which is the order of the bytes for all values here but rare letters. */
const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Returns the value that a document is placed by; values are compared as texts. Documents without a name come after all
 * others.
 */
export function listValue(document: Listable, by: ListKey): string {
  switch (by) {
    case 'created':
      return comparableTime(document.createdAt);
    case 'updated':
      return comparableTime(document.updatedAt);
    case 'name':
      return foldedName(shownContent(document))?.slice(0, MAX_NAME_SHARE) ?? NAMELESS;
  }
}

const NAMELESS = '\uffff';
/**
 * Names that begin with this many equal letters are ordered by id: one sign is folded to 18 letters, and a cursor holds the
 * place.
 */
const MAX_NAME_SHARE = 256;
/** Times in the format of `toISOString` are ordered as their texts are. */
const USUAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function comparableTime(time: string): string {
  if (USUAL_TIME.test(time)) return time;
  const instant = Date.parse(time);
  return Number.isNaN(instant) ? time : new Date(instant).toISOString();
}

/** Makes the first page of documents in order. The caller looked for one more than the page may have. */
export function pageOf(
  placed: readonly Placed[],
  {
    skip,
    limit,
    after,
  }: { readonly skip: number; readonly limit: number; readonly after?: ListPosition | null },
): ListedPage {
  const page = placed.slice(0, limit);
  const last = page.at(-1);
  const hasMore = placed.length > limit && last !== undefined;
  return {
    ids: page.map(({ id }) => id),
    next: hasMore ? { ...last, rank: (after?.rank ?? 0) + skip + limit } : null,
  };
}

/** Finds documents by their file names; each word of the text must be somewhere in the name. Null means all documents. */
export function nameMatcher(
  text: string | null,
): (document: Pick<Listable, 'published' | 'pending'>) => boolean {
  if (text === null) return () => true;
  const words = foldText(text)
    .split(/\s+/)
    .filter((word) => word !== '');
  return (document) => {
    const name = foldedName(shownContent(document));
    return name !== null && words.every((word) => name.includes(word));
  };
}

/** Folded names by content, since a list compares each of them many times. */
const folded = new WeakMap<Content, string>();

function foldedName(content: Content): string | null {
  if (content.filename === null) return null;
  const known = folded.get(content);
  if (known !== undefined) return known;
  const made = foldText(content.filename);
  folded.set(content, made);
  return made;
}

/** Without marks on letters and without case: `Zürich` and `ZURICH` are one, and so are `Straße` and `STRASSE`. */
const foldText = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toUpperCase()
    .toLowerCase();
