import type { Box } from '../../visibility/layers.js';

interface Placed {
  readonly box: Box | undefined;
}

/** More shapes keep the order of the file. */
const MAX_ORDERED = 500;
/** A gap between rows divides a slide unless one between columns is this many times as wide. */
const ROW_PREFERENCE = 3;

/**
 * Brings shapes into reading order by recursive cuts along the widest empty strip (XY-cut): rows from the top, columns from the
 * left. Shapes that overlap keep the order of the file, as do all when the place of one is not known.
 */
export function inReadingOrder<Item extends Placed>(items: readonly Item[]): readonly Item[] {
  const isKnown = items.every(({ box }) => box !== undefined);
  return isKnown && items.length <= MAX_ORDERED ? divide(items) : items;
}

function divide<Item extends Placed>(items: readonly Item[]): readonly Item[] {
  if (items.length < 2) return items;
  const rows = widestGap(items, 'y', 'height');
  const columns = widestGap(items, 'x', 'width');
  const isByRows = rows !== undefined && (!columns || columns.width <= rows.width * ROW_PREFERENCE);
  const gap = isByRows ? rows : columns;
  if (!gap) return items;
  const isBefore = ({ box }: Item): boolean => (box?.[isByRows ? 'y' : 'x'] ?? 0) < gap.at;
  return [...divide(items.filter(isBefore)), ...divide(items.filter((item) => !isBefore(item)))];
}

/** The widest strip between shapes that none of them crosses; `at` is where it ends. */
function widestGap(items: readonly Placed[], start: 'x' | 'y', size: 'width' | 'height') {
  const spans = items
    .map(({ box }) => ({ first: box?.[start] ?? 0, last: (box?.[start] ?? 0) + (box?.[size] ?? 0) }))
    .sort((a, b) => a.first - b.first);
  let reached = spans[0]?.last ?? 0;
  let widest: { at: number; width: number } | undefined;
  for (const { first, last } of spans.slice(1)) {
    const width = first - reached;
    // Boxes of text often touch, or overlap by a hair.
    if (width >= 0 && (!widest || width > widest.width)) widest = { at: first, width };
    reached = Math.max(reached, last);
  }
  return widest;
}
