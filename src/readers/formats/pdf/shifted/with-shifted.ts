import type { LayoutCell, TextItem } from '@llamaindex/liteparse';
import type { Rectangle } from '../../../blocks/location.js';
import { shiftText } from '../../baseline/shift-text.js';
import { rightOf, around } from '../../pages/layout/piece.js';
import type { SeenPage } from '../hidden.js';
import type { ShiftedText } from './shifted-text.js';
import { endsOf, isAt, isFirst, inWriting } from './stacks.js';

/** The number of texts of a page that are marked as raised and lowered. */
const MAX = 2_000;
const NUMBER = /^\p{Nd}{1,4}$/u;
/** The texts behind the upper number of a fraction, and before the lower one. */
const OVER = /^\s?(?:[⁄∕]|\/\s?\p{Nd})/u;
const UNDER = /(?:[⁄∕]|\p{Nd}\s?\/)\s?$/u;

/** Returns the written form of a raised or lowered text at its place. Fractions stay as they are: `1/2`, `3 1/2`. */
export function writtenShifted({ text, shift, before, after }: ShiftedText): string {
  if (NUMBER.test(text) && OVER.test(after)) return /\p{Nd}$/u.test(before) ? ` ${text}` : text;
  if (NUMBER.test(text) && UNDER.test(before)) return text;
  return shiftText(text, shift, { before, after });
}

/** The page with raised and lowered texts written as such, in its texts and in its tables. */
export function withShifted(read: SeenPage, all: readonly ShiftedText[]): SeenPage {
  const shifted = all.slice(0, MAX);
  const seen = gatherShifted(read, shifted);
  const written = new Map(seen.page.textItems.map((item) => [item, itemWith(item, shifted)]));
  const cells = (row: readonly LayoutCell[]) => row.map((cell) => cellWith(cell, shifted));
  const textItems = [...written.values()];
  const blocks = seen.page.blocks?.map((block) =>
    block.kind === 'table'
      ? { ...block, header: cells(block.header ?? []), rows: (block.rows ?? []).map(cells) }
      : block,
  );
  // The visible part of a text is an item of its own.
  const visible =
    seen.visible === seen.page.textItems
      ? textItems
      : seen.visible.map((item) => written.get(item) ?? itemWith(item, shifted));
  return { ...seen, page: { ...seen.page, textItems, ...(blocks && { blocks }) }, visible };
}

function itemWith(item: TextItem, shifted: readonly ShiftedText[]): TextItem {
  const text = marked(item.text, { box: item, isOneLine: true }, shifted);
  return text === item.text ? item : { ...item, text };
}

function cellWith(cell: LayoutCell, shifted: readonly ShiftedText[]): LayoutCell {
  return cell.bbox
    ? { ...cell, text: marked(cell.text, { box: cell.bbox, isOneLine: false }, shifted) }
    : cell;
}

interface Edit {
  readonly from: number;
  readonly to: number;
  readonly written: string;
  readonly shifted: ShiftedText;
}

function marked(text: string, { box, isOneLine }: Where, shifted: readonly ShiftedText[]): string {
  const within = shifted.filter((each) => isWithin(each, box));
  if (within.length === 0) return text;
  const edits: Edit[] = [];
  const place = { ...lettersIn(text), box, isOneLine };
  for (const each of within) {
    const edit = editOf(each, place, edits);
    if (edit) edits.push(edit);
  }
  let written = text;
  for (const edit of inOrder(edits).toSorted((a, b) => b.from - a.from))
    written = written.slice(0, edit.from) + edit.written + written.slice(edit.to);
  return written;
}

/** Orders the edits. Of two texts over each other, the one that is written first comes first, whichever a file shows first. */
function inOrder(edits: readonly Edit[]): Edit[] {
  return edits.flatMap((edit) => {
    const other = edits.find(({ shifted }) => shifted.runs[0] === edit.shifted.stacked?.runs[0]);
    if (!other) return [edit];
    const [one, next] = edit.from < other.from ? [edit, other] : [other, edit];
    if (one.to !== next.from || isFirst(one.shifted)) return [edit];
    return edit === one ? [{ ...one, to: next.to, written: next.written + one.written }] : [];
  });
}

/** The box of a text, and whether it is one line. */
interface Where {
  readonly box: Rectangle;
  readonly isOneLine: boolean;
}

/** Tells whether a shifted text stands in a box, or the line beside which it is shifted does. */
function isWithin({ runs, base }: ShiftedText, box: Rectangle): boolean {
  const [first] = runs;
  if (!first) return false;
  const ends = endsOf({ runs });
  const middle = (ends.x + ends.right) / 2;
  return middle >= box.x - 1 && middle <= rightOf(box) + 1 && (isAt(base, box) || isAt(first, box));
}

type Place = Where & Letters;

/** Finds a shifted text within a text, by the text around it and by its place: another one is not touched. */
function editOf(shifted: ShiftedText, place: Place, edits: readonly Edit[]): Edit | undefined {
  const { compact, letters, box, isOneLine } = place;
  const text = bare(shifted.text);
  const [before, after] = [bare(shifted.before), bare(shifted.after)];
  const over = bare(shifted.stacked?.text ?? '');
  const [first] = shifted.runs;
  const expected = first ? ((first.x - box.x) / box.width) * compact.length : 0;
  const least = Math.min(isOneLine ? 2 : 3, before.length + after.length);
  let best: Edit | undefined;
  let score = 0;
  for (let at = compact.indexOf(text); at >= 0; at = compact.indexOf(text, at + 1)) {
    const isWhole = text.length === compact.length;
    const off = Math.abs(at - expected);
    if (isOneLine && !isWhole && isFar(off, place)) continue;
    const agreeing =
      ending(compact.slice(0, at), before, over) + starting(compact.slice(at + text.length), after, over);
    // In a short text, all of the rest tells.
    const isTold = agreeing >= least || agreeing >= compact.length - text.length;
    const value = isWhole || isTold ? 1 + agreeing + 1 / (1 + off) : 0;
    const [from, end] = [letters[at]?.index, letters[at + text.length - 1]];
    if (value <= score || from === undefined || !end) continue;
    if (edits.some((edit) => from < edit.to && end.index >= edit.from)) continue;
    score = value;
    best = { from, to: end.index + 1, written: writtenShifted(shifted), shifted };
  }
  return best;
}

/** Counts the letters that agree at the end. The text over or under a text may come before or behind it. */
const ending = (text: string, before: string, over: string): number =>
  Math.max(commonEnd(text, before), over === '' ? 0 : commonEnd(text, before + over));

const starting = (text: string, after: string, over: string): number =>
  Math.max(commonStart(text, after), over === '' ? 0 : commonStart(text, over + after));

/** The greatest distance of a shifted text from the text that it belongs to, in sizes of that text. */
const FARTHEST = 0.5;
/** The width of a space, in sizes of its font. */
const SPACE = 0.25;
/** Letters that tell the place, where there are as many. */
const ENOUGH = 2;

/**
 * Returns the page with raised and lowered texts moved into the texts that they belong to. PDFium gives some of them as
 * texts of their own, such as a text behind or under one that is shifted the other way.
 */
function gatherShifted(seen: SeenPage, shifted: readonly ShiftedText[]): SeenPage {
  const visible = new Set(seen.visible);
  const items = new Map(seen.page.textItems.map((item) => [item, item]));
  const moved: ShiftedText[] = [];
  for (const each of shifted.toSorted((one, other) => endsOf(one).x - endsOf(other).x)) {
    const own = [...items].find(([item, now]) => visible.has(item) && isApart(now, each));
    if (!own) continue;
    for (const [item, now] of items) {
      const joined = visible.has(item) && now !== own[1] ? withShiftedIn(now, own[1], each) : undefined;
      if (!joined) continue;
      items.set(item, joined);
      const rest = withoutShifted(own[1], each);
      if (rest) items.set(own[0], rest);
      else items.delete(own[0]);
      moved.push(each);
      break;
    }
  }
  return moved.length > 0 ? gathered(seen, items, moved) : seen;
}

function gathered(
  seen: SeenPage,
  items: ReadonlyMap<TextItem, TextItem>,
  moved: readonly ShiftedText[],
): SeenPage {
  const textItems = [...items.values()];
  const gather = (cells: readonly LayoutCell[]) => cells.map((cell) => gatheredCell(cell, moved));
  const blocks = seen.page.blocks?.map((block) =>
    block.kind === 'table'
      ? { ...block, header: gather(block.header ?? []), rows: (block.rows ?? []).map(gather) }
      : block,
  );
  const isWhole = seen.visible === seen.page.textItems;
  const visible = isWhole ? textItems : seen.visible.flatMap((item) => items.get(item) ?? []);
  return { ...seen, page: { ...seen.page, textItems, ...(blocks && { blocks }) }, visible };
}

/**
 * Tells whether a text of PDFium is nothing but a shifted one, or begins with a shifted text that stands over or under the
 * text before it.
 */
function isApart(item: TextItem, shifted: ShiftedText): boolean {
  const [first] = shifted.runs;
  if (!first || !isAt(first, item)) return false;
  const [text, own] = [bare(item.text), bare(shifted.text)];
  const { x, right } = endsOf(shifted);
  const middle = (x + right) / 2;
  if (text === own) return middle >= item.x - 1 && middle <= rightOf(item) + 1;
  return shifted.stacked !== undefined && text.startsWith(own) && Math.abs(item.x - x) <= 1;
}

/** Returns the rest of a text without the shifted one at its beginning; undefined for nothing. */
function withoutShifted(item: TextItem, shifted: ShiftedText): TextItem | undefined {
  const { letters } = lettersIn(item.text);
  const count = bare(shifted.text).length;
  const [last, next] = [letters[count - 1], letters[count]];
  if (!last || !next) return undefined;
  const right = Math.max(...inWriting(shifted).map((each) => endsOf(each).right));
  const x = next.index > last.index + 1 ? right + SPACE * shifted.base.size : right;
  return { ...item, text: item.text.slice(next.index), x, width: rightOf(item) - x };
}

/** Returns the text with a shifted one in it; undefined for a text that does not hold the base. */
function withShiftedIn(item: TextItem, own: TextItem, shifted: ShiftedText): TextItem | undefined {
  const { base } = shifted;
  const { x, right } = endsOf(shifted);
  const far = FARTHEST * base.size;
  if (!isAt(base, item) || x > rightOf(item) + far || right < item.x - far) return undefined;
  const at = placeFor(shifted, item.text, item);
  if (at === undefined) return undefined;
  const box = { x, y: own.y, width: right - x, height: own.height };
  return { ...item, text: insert(item.text, at, shifted), ...around([item, box]) };
}

/** Returns the place of a shifted text in a text: behind the text before it, or before the text behind it. */
function placeFor(shifted: ShiftedText, text: string, box: Rectangle | undefined): number | undefined {
  const all = lettersIn(text);
  const { compact, letters } = all;
  const { x } = endsOf(shifted);
  const isBehind = x > shifted.base.x;
  const context = bare(isBehind ? shifted.before : shifted.after);
  const expected = box ? ((x - box.x) / box.width) * compact.length : undefined;
  let [best, score]: [number | undefined, number] = [undefined, 0];
  for (let at = 0; at <= compact.length; at += 1) {
    const off = expected === undefined ? 0 : Math.abs(at - expected);
    if (box && isFar(off, all)) continue;
    const rest = isBehind ? compact.slice(0, at) : compact.slice(at);
    const shared = isBehind ? commonEnd(rest, context) : commonStart(rest, context);
    const value = shared >= Math.min(ENOUGH, rest.length, context.length) ? shared + 1 / (2 + off) : 0;
    if (shared === 0 || value <= score) continue;
    [best, score] = [at, value];
  }
  if (best === undefined) return undefined;
  const before = letters[best - 1];
  return isBehind ? (before ? before.index + 1 : 0) : (letters[best]?.index ?? text.length);
}

const insert = (
  text: string,
  at: number,
  { text: added, before, after, base, runs }: ShiftedText,
): string => {
  const isBehind = endsOf({ runs }).x > base.x;
  const lead = isBehind && before.endsWith(' ') ? ' ' : '';
  const tail = !isBehind && after.startsWith(' ') ? ' ' : '';
  return text.slice(0, at) + lead + added + tail + text.slice(at);
};

/** The cell with shifted texts, which stand apart in it, where they belong. */
function gatheredCell(cell: LayoutCell, moved: readonly ShiftedText[]): LayoutCell {
  const { bbox } = cell;
  if (!bbox) return cell;
  let { text } = cell;
  for (const each of moved) {
    const [first] = each.runs;
    const isInCell = first && first.x >= bbox.x - 1 && first.x <= rightOf(bbox) + 1 && isAt(each.base, bbox);
    const words = isInCell ? text.split(' ') : [];
    const own = words.map(bare).lastIndexOf(bare(each.text));
    if (own < 0) continue;
    const rest = words.toSpliced(own, 1).join(' ');
    const at = placeFor(each, rest, undefined);
    if (at !== undefined) text = insert(rest, at, each);
  }
  return text === cell.text ? cell : { ...cell, text };
}

/** A text without blanks, and where its letters stand in it. */
interface Letters {
  readonly compact: string;
  readonly letters: readonly { readonly letter: string; readonly index: number }[];
}

/** This many characters before and behind tell which of several places in a text is meant. */
const CONTEXT = 8;
/** The distance of a place from its expected one, by its share of the line, whose letters differ in width. */
const FARTHEST_PLACE = { letters: 3, share: 0.1 };

function lettersIn(text: string): Letters {
  const letters = [...text.matchAll(/\S/g)].map(({ 0: letter, index }) => ({ letter, index }));
  return { compact: bare(letters.map(({ letter }) => letter).join('')), letters };
}

/** The two readers do not always give the same dash. */
const bare = (text: string): string => text.replace(/\s+/g, '').replace(/[\u2010-\u2015\u2212]/g, '-');

/** Tells whether a place among the letters of a line is too far from where it is expected. */
const isFar = (off: number, { compact }: Letters): boolean =>
  off > FARTHEST_PLACE.letters + FARTHEST_PLACE.share * compact.length;

/** Returns the number of letters that two texts have in common at their ends. */
function commonEnd(one: string, other: string): number {
  let count = 0;
  while (count < CONTEXT && count < other.length && one.at(-1 - count) === other.at(-1 - count)) count += 1;
  return count;
}

/** Returns the number of letters that two texts have in common at their beginnings. */
function commonStart(one: string, other: string): number {
  let count = 0;
  while (count < CONTEXT && count < other.length && one[count] === other[count]) count += 1;
  return count;
}
