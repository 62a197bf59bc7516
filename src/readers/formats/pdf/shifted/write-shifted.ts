import type { LayoutCell, TextItem } from '@llamaindex/liteparse';
import type { Rectangle } from '../../../blocks/location.js';
import { shiftText } from '../../baseline/raised-text.js';
import { rightOf } from '../../pages/layout/piece.js';
import type { SeenPage } from '../hidden.js';
import type { ShiftedText } from './shifted-text.js';
import { gatherShifted } from './gather-shifted.js';
import { endsOf, isAt, isFirst } from './stacks.js';
import { bare, commonEnd, commonStart, isFar, lettersIn, type Letters } from './places.js';

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
    const around =
      ending(compact.slice(0, at), before, over) + starting(compact.slice(at + text.length), after, over);
    // In a short text, all of the rest tells.
    const isTold = around >= least || around >= compact.length - text.length;
    const value = isWhole || isTold ? 1 + around + 1 / (1 + off) : 0;
    const from = letters[at]?.index ?? 0;
    const end = letters[at + text.length - 1];
    if (value <= score || !end || edits.some((edit) => from < edit.to && end.index >= edit.from)) continue;
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
