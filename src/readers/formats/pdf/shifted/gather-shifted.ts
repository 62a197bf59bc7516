import type { LayoutCell, TextItem } from '@llamaindex/liteparse';
import type { Rectangle } from '../../../blocks/location.js';
import { around, rightOf } from '../../pages/layout/piece.js';
import type { SeenPage } from '../hidden.js';
import type { ShiftedText } from './shifted-text.js';
import { endsOf, inWriting, isAt } from './stacks.js';
import { bare, commonEnd, commonStart, isFar, lettersIn } from './places.js';

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
export function gatherShifted(seen: SeenPage, shifted: readonly ShiftedText[]): SeenPage {
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
  const inOrder = (cells: readonly LayoutCell[]) => cells.map((cell) => cellWith(cell, moved));
  const blocks = seen.page.blocks?.map((block) =>
    block.kind === 'table'
      ? { ...block, header: inOrder(block.header ?? []), rows: (block.rows ?? []).map(inOrder) }
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
  const isBehind = (runs[0]?.x ?? 0) > base.x;
  const lead = isBehind && before.endsWith(' ') ? ' ' : '';
  const tail = !isBehind && after.startsWith(' ') ? ' ' : '';
  return text.slice(0, at) + lead + added + tail + text.slice(at);
};

/** The cell with shifted texts, which stand apart in it, where they belong. */
function cellWith(cell: LayoutCell, moved: readonly ShiftedText[]): LayoutCell {
  const { bbox } = cell;
  if (!bbox) return cell;
  let { text } = cell;
  for (const each of moved) {
    const [first] = each.runs;
    const isWithin = first && first.x >= bbox.x - 1 && first.x <= rightOf(bbox) + 1 && isAt(each.base, bbox);
    const words = isWithin ? text.split(' ') : [];
    const own = words.map(bare).lastIndexOf(bare(each.text));
    if (own < 0) continue;
    const rest = words.toSpliced(own, 1).join(' ');
    const at = placeFor(each, rest, undefined);
    if (at !== undefined) text = insert(rest, at, each);
  }
  return text === cell.text ? cell : { ...cell, text };
}
