import type { LayoutCell, TextItem } from '@llamaindex/liteparse';
import type { Rectangle } from '../../../../../shared/extraction/location.js';
import { shiftText } from '../../baseline/raised-text.js';
import { bottomOf, rightOf } from '../../pages/layout/piece.js';
import type { SeenPage } from '../hidden.js';
import type { ShiftedText, TextRun } from './find-shifted.js';

/** So many texts of a page are marked as raised and lowered. */
const MOST = 2_000;
/** So many characters before and behind tell which of several places in a text it is. */
const CONTEXT = 8;
/** How far it may stand from where it is expected by its place in the line, whose letters differ in width. */
const FARTHEST = { letters: 3, share: 0.1 };

const NUMBER = /^\p{Nd}{1,4}$/u;
/** What stands behind the upper number of a fraction, and before the lower one. */
const OVER = /^\s?(?:[⁄∕]|\/\s?\p{Nd})/u;
const UNDER = /(?:[⁄∕]|\p{Nd}\s?\/)\s?$/u;

/** How a raised or lowered text is written where it stands. Fractions stay as they are: `1/2`, `3 1/2`. */
export function writtenShifted({ text, shift, before, after }: ShiftedText): string {
  if (NUMBER.test(text) && OVER.test(after)) return /\p{Nd}$/u.test(before) ? ` ${text}` : text;
  if (NUMBER.test(text) && UNDER.test(before)) return text;
  return shiftText(text, shift, { before, after });
}

/** The page with raised and lowered texts written as such, in its texts and in its tables. */
export function withShifted(seen: SeenPage, all: readonly ShiftedText[]): SeenPage {
  const shifted = all.slice(0, MOST);
  const written = new Map(seen.page.textItems.map((item) => [item, itemWith(item, shifted)]));
  const cells = (row: readonly LayoutCell[]) => row.map((cell) => cellWith(cell, shifted));
  const textItems = [...written.values()];
  const blocks = seen.page.blocks?.map((block) =>
    block.kind === 'table'
      ? { ...block, header: cells(block.header ?? []), rows: (block.rows ?? []).map(cells) }
      : block,
  );
  // Of a text that is seen in part, that part is another one.
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
}

function marked(text: string, { box, isOneLine }: Where, shifted: readonly ShiftedText[]): string {
  const within = shifted.filter((each) => isWithin(each, box));
  if (within.length === 0) return text;
  const letters = [...text.matchAll(/\S/gu)].map(({ 0: letter, index }) => ({ letter, index }));
  const compact = bare(letters.map(({ letter }) => letter).join(''));
  // Letters beyond the basic plane would shift the places.
  if (compact.length !== letters.length) return text;
  const edits: Edit[] = [];
  for (const each of within) {
    const edit = editOf(each, { compact, letters, box, isOneLine }, edits);
    if (edit) edits.push(edit);
  }
  let written = text;
  for (const edit of edits.toSorted((a, b) => b.from - a.from))
    written = written.slice(0, edit.from) + edit.written + written.slice(edit.to);
  return written;
}

/** Where a text stands, and whether in one line. */
interface Where {
  readonly box: Rectangle;
  readonly isOneLine: boolean;
}

/** Tells whether a shifted text stands in a box, or the line beside which it is shifted does. */
function isWithin({ runs, base }: ShiftedText, box: Rectangle): boolean {
  const [first] = runs;
  const last = runs.at(-1);
  if (!first || !last) return false;
  const middle = (first.x + rightOf(last)) / 2;
  const isAt = ({ y, size }: TextRun) => y - 0.3 * size > box.y && y - 0.3 * size < bottomOf(box);
  return middle >= box.x - 1 && middle <= rightOf(box) + 1 && (isAt(base) || isAt(first));
}

interface Place extends Where {
  /** The text without blanks, and where its letters stand in it. */
  readonly compact: string;
  readonly letters: readonly { readonly letter: string; readonly index: number }[];
}

/** Finds a shifted text within a text, by what stands around it and where it stands: another one is not touched. */
function editOf(
  shifted: ShiftedText,
  { compact, letters, box, isOneLine }: Place,
  edits: readonly Edit[],
): Edit | undefined {
  const text = bare(shifted.text);
  const [before, after] = [bare(shifted.before), bare(shifted.after)];
  const [first] = shifted.runs;
  const expected = first ? ((first.x - box.x) / box.width) * compact.length : 0;
  const least = Math.min(isOneLine ? 2 : 3, before.length + after.length);
  let best: Edit | undefined;
  let score = 0;
  for (let at = compact.indexOf(text); at >= 0; at = compact.indexOf(text, at + 1)) {
    const isWhole = text.length === compact.length;
    const off = Math.abs(at - expected);
    if (isOneLine && !isWhole && off > FARTHEST.letters + FARTHEST.share * compact.length) continue;
    const around =
      commonEnd(compact.slice(0, at), before) + commonStart(compact.slice(at + text.length), after);
    const value = isWhole || around >= least ? 1 + around + 1 / (1 + off) : 0;
    const from = letters[at]?.index ?? 0;
    const end = letters[at + text.length - 1];
    if (value <= score || !end || edits.some((edit) => from < edit.to && end.index >= edit.from)) continue;
    score = value;
    best = { from, to: end.index + 1, written: writtenShifted(shifted) };
  }
  return best;
}

/** The two readers do not always give the same dash. */
const bare = (text: string): string => text.replace(/\s+/g, '').replace(/[\u2010-\u2015\u2212]/g, '-');

function commonEnd(one: string, other: string): number {
  let count = 0;
  while (count < CONTEXT && count < other.length && one.at(-1 - count) === other.at(-1 - count)) count += 1;
  return count;
}

function commonStart(one: string, other: string): number {
  let count = 0;
  while (count < CONTEXT && count < other.length && one[count] === other[count]) count += 1;
  return count;
}
