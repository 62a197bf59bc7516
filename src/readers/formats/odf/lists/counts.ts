import { numberAs, type NumberStyle } from './list-styles.js';

/** The style of a level's numbers; undefined where it has none. */
export type NumbersOf = (level: number) => NumberStyle | undefined;

/** The numbers of lists that count on from each other, from the outermost level. */
export type Counts = number[];

/** Counts one item of a level, from 1, and begins the levels below it anew. */
export function countItem(counts: Counts, level: number, numbers: NumbersOf): void {
  for (let above = 1; above <= level; above += 1) counts[above - 1] ??= (numbers(above)?.start ?? 1) - 1;
  counts[level - 1] = (counts[level - 1] ?? 0) + 1;
  counts.length = level;
}

/** The number of the item that was counted last, such as `2.1.`; empty where none is shown. */
export function shownCount(counts: Counts, level: number, numbers: NumbersOf): string {
  const style = numbers(level);
  if (!style) return '';
  const shown: string[] = [];
  for (let each = Math.max(1, level - style.shownLevels + 1); each <= level; each += 1) {
    const own = numbers(each);
    const number = own ? numberAs(Math.max(counts[each - 1] ?? own.start, own.start), own) : '';
    if (number !== '') shown.push(number);
  }
  return (style.prefix + shown.join('.') + style.suffix).trim();
}
