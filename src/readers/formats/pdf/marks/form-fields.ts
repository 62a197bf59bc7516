import type { FormField, ParsedPage, TextItem } from '@llamaindex/liteparse';
import type { Rectangle } from '../../../blocks/location.js';
import type { ReceiptWriter } from '../../../receipt/receipt-writer.js';
import { checkMark, chosenText } from '../../forms/controls.js';
import { bottomOf, holds, rightOf } from '../../pages/layout/piece.js';
import type { Turn } from '../../pages/pdfium.js';
import { mayName } from '../judging/names.js';
import type { SecondReader } from '../pdfjs/second-reader.js';
import { letterHeight, linesOf, withItems, withTexts } from '../with-items.js';

const MAX_FIELDS = 5_000;
const LINE_HEIGHT = 12;
/** The mean width of a letter, in heights of its line. */
const MEAN_WIDTH = 0.45;
/**
 * Flags of text fields (ISO 32000-1, 12.7.4.3): a password, which is not shown, and a comb, which has a box for each
 * character.
 */
const PASSWORD = 1 << 13;
const COMB = 1 << 24;

/** Tells whether a file may have a form. */
export const mayHoldForm = (bytes: Uint8Array): boolean => mayName(bytes, ['/AcroForm']);

/** Notes that a file has a form of a kind that is not read. */
export function noteXfa(bytes: Uint8Array, receipt: ReceiptWriter): void {
  if (mayName(bytes, ['/XFA']))
    receipt.addGap('skipped', 'The form is in XFA, too, which is not read: what only that holds is missing.');
}

interface Source {
  readonly second: Pick<SecondReader, 'hiddenAnnotations'>;
  readonly receipt: ReceiptWriter;
}

/** Adds the values of forms: the state of boxes and buttons where they stand, and values that the page does not show. */
export async function addFormFields(
  pages: readonly ParsedPage[],
  turns: ReadonlyMap<number, Turn>,
  { second, receipt }: Source,
): Promise<readonly ParsedPage[]> {
  return await Promise.all(
    pages.map(async (page) => {
      const all = page.formFields ?? [];
      const fields = all.slice(0, MAX_FIELDS);
      if (fields.length === 0) return page;
      const location = { pages: { first: page.pageNum, last: page.pageNum } };
      if (turns.has(page.pageNum)) {
        receipt.addGap('skipped', 'The fields of the form on a page that is turned were not read.', location);
        return page;
      }
      if (fields.length < all.length)
        receipt.addGap('limit', 'Not all fields of the form were read.', location);
      const unseen = (await second.hiddenAnnotations(page.pageNum)) ?? new Set();
      const isHidden = ({ objectNumber }: FormField): boolean => unseen.has(objectNumber ?? -1);
      return filled(page, fields, isHidden);
    }),
  );
}

/** The changes to a page's texts. */
interface Changes {
  readonly items: readonly TextItem[];
  readonly texts: Map<TextItem, string>;
  readonly added: TextItem[];
}

function filled(
  page: ParsedPage,
  fields: readonly FormField[],
  isHidden: (field: FormField) => boolean,
): ParsedPage {
  const changes: Changes = { items: page.textItems, texts: new Map(), added: [] };
  for (const field of fields) {
    const { rect: box, type: kind } = field;
    if (!box) continue;
    if (kind === 'checkbox' || kind === 'radio') {
      if (!isHidden(field)) putMark(changes, box, checkMark(field.checked === true ? 'on' : 'off'));
    } else if (kind === 'text' || kind === 'combobox' || kind === 'listbox')
      putValue(changes, { field, box, isHidden: isHidden(field) });
  }
  return withItems(withTexts(page, changes.texts), changes.added);
}

/** Puts the state of a box in the place of the sign that is drawn in it. */
function putMark(changes: Changes, box: Rectangle, mark: string): void {
  const { items, texts, added } = changes;
  const around = { ...box, x: box.x - 2, width: box.width + 4 };
  for (const item of items.filter((each) => touches(each, around))) {
    const text = texts.get(item) ?? item.text;
    const at = signIn(text, item, around);
    if (at === undefined) continue;
    texts.set(item, `${text.slice(0, at)}${mark}${text.slice(at + 1)}`);
    return;
  }
  added.push({ ...placed(box, items), text: mark });
}

/** Returns the place in a text of a sign that stands by itself within a box. */
function signIn(text: string, item: TextItem, box: Rectangle): number | undefined {
  for (const { index } of text.matchAll(/(?<!\S)(?:[^\p{L}\p{N}\s]|[Xx])(?!\S)/gu)) {
    const x = item.x + ((index + 0.5) / text.length) * item.width;
    if (x >= box.x && x <= rightOf(box)) return index;
  }
  return undefined;
}

interface Value {
  readonly field: FormField;
  readonly box: Rectangle;
  readonly isHidden: boolean;
}

function putValue({ items, texts, added }: Changes, { field, box, isHidden }: Value): void {
  const { type: kind, fieldFlags: flags, value = '', selectedOptions, options } = field;
  const text = kind === 'text' ? value : chosenText(selectedOptions) || value;
  if (text.trim() === '' || (kind === 'text' && (flags & PASSWORD) !== 0)) return;
  const within = isHidden ? [] : items.filter((item) => holds(box, item));
  if (within.length === 0) {
    added.push(...shownLines(text, placed(box, isHidden ? [] : items), { box, isHidden }));
    return;
  }
  // The letters of a comb stand apart, and lists show options that are not chosen, too.
  const all = compact(
    kind === 'listbox' ? options.join('') : kind === 'text' && (flags & COMB) !== 0 ? value : '',
  );
  const own = within.filter((item) => all.includes(compact(item.text)));
  for (const [index, item] of own.entries()) texts.set(item, index === 0 ? text : '');
}

const compact = (text: string): string => text.replace(/\s+/g, '');

const touches = (one: Rectangle, other: Rectangle): boolean =>
  one.x < rightOf(other) && other.x < rightOf(one) && one.y < bottomOf(other) && other.y < bottomOf(one);

/** An empty text in a box, at the height of the text beside it. */
function placed(box: Rectangle, items: readonly TextItem[]): TextItem {
  const middle = box.y + box.height / 2;
  const beside = items.filter(({ y, height }) => middle >= y && middle <= y + height);
  const distance = (item: TextItem): number => Math.max(box.x - rightOf(item), item.x - rightOf(box), 0);
  const [nearest] = beside.toSorted((one, other) => distance(one) - distance(other));
  const height = Math.min(box.height, LINE_HEIGHT);
  return {
    text: '',
    x: box.x,
    y: nearest?.y ?? middle - height / 2,
    width: box.width,
    height: nearest?.height ?? height,
    fontHeight: nearest?.fontHeight ?? height * 0.8,
    rotation: 0,
  };
}

interface Lines {
  readonly box: Rectangle;
  readonly isHidden: boolean;
}

/** The lines of a value that the page does not show. Those of a hidden field are transparent, as other text that is not seen. */
function shownLines(text: string, first: TextItem, { box, isHidden }: Lines): TextItem[] {
  const lines = linesOf(text);
  const isOne = lines.length === 1;
  const height = Math.min(LINE_HEIGHT, box.height / lines.length);
  return lines.map((line, index) => ({
    ...first,
    text: line,
    ...(isOne ? {} : { y: box.y + index * height, height, fontHeight: letterHeight(height, box) }),
    width: Math.min(box.width, line.length * first.height * MEAN_WIDTH),
    ...(isHidden ? { fillColor: '00ffffff' } : {}),
  }));
}
