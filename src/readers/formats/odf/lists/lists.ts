import { lookUp, at } from '../../../../shared/at.js';
import { bulletMark } from '../../signs/sign-reader.js';
import type { Attributes } from '../../xml/read-markup.js';
import type { Styles } from '../styles.js';
import { wholeNumber, numberAs, type NumberStyle } from './list-styles.js';

interface ListLevel {
  /** The style of the list. */
  readonly style: string | undefined;
  readonly counts: Counts;
  /** True if the next paragraph is the first one of an item. */
  isFresh: boolean;
  /** True if the item has held a list. */
  hasList: boolean;
  /** The number that the item is to have. */
  value: number | undefined;
}

/** Follows nested lists. A text box or a cell begins anew. */
export interface ListTracker {
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
  /** Returns the mark in front of a paragraph; undefined outside of lists. */
  mark(): string | undefined;
}

const MAX_INDENT = 8;
const MAX_LISTS = 100_000;
const FRAMES = new Set(['draw:text-box', 'table:table-cell', 'text:note-body']);

type ListStyles = Pick<Styles, 'bullet' | 'numbers'>;

export function createLists(styles: ListStyles): ListTracker {
  const frames: ListLevel[][] = [[]];
  const continued = createContinuations();
  return {
    open: (name, attributes) => {
      if (FRAMES.has(name)) frames.push([]);
      const levels = frames.at(-1);
      if (name === 'text:list' && levels) levels.push(openList(levels, attributes, continued));
      const level = levels?.at(-1);
      if (name === 'text:list-item' && level) beginItem(level, attributes);
    },
    close: (name) => {
      if (FRAMES.has(name)) frames.pop();
      const levels = frames.at(-1) ?? [];
      // An item without text has its number, too.
      if (name === 'text:list-item' && levels.at(-1)?.hasList === false) count(levels, styles);
      if (name === 'text:list') levels.pop();
    },
    mark: () => {
      const levels = frames.at(-1) ?? [];
      const level = levels.at(-1);
      if (!level) return undefined;
      const indent = '  '.repeat(Math.min(levels.length - 1, MAX_INDENT));
      const mark = level.isFresh ? itemMark(levels, level, styles) : '  ';
      return indent + mark;
    },
  };
}

function beginItem(level: ListLevel, attributes: Attributes): void {
  level.isFresh = true;
  level.hasList = false;
  level.value = wholeNumber(attributes['text:start-value']);
}

function openList(levels: ListLevel[], attributes: Attributes, continued: Continuations): ListLevel {
  const above = levels.at(-1);
  const style = attributes['text:style-name'] ?? above?.style;
  const counts = above?.counts ?? continued.countsOf(style, attributes);
  // A second list within an item does not count on from the first one.
  if (above?.hasList === true) counts.length = Math.min(counts.length, levels.length);
  if (above) above.hasList = true;
  return { style, counts, isFresh: false, hasList: false, value: undefined };
}

function itemMark(levels: readonly ListLevel[], level: ListLevel, styles: ListStyles): string {
  count(levels, styles);
  const numbers = (each: number) => styles.numbers(level.style, each);
  if (numbers(levels.length)) {
    const number = shownCount(level.counts, levels.length, numbers);
    return number === '' ? '' : `${number} `;
  }
  const { sign, font } = styles.bullet(level.style, levels.length) ?? { sign: '', font: undefined };
  return bulletMark(sign, font);
}

/** Counts an item, once. */
function count(levels: readonly ListLevel[], styles: ListStyles): void {
  const level = levels.at(-1);
  if (level?.isFresh !== true) return;
  level.isFresh = false;
  countItem(level.counts, levels.length, (each) => styles.numbers(level.style, each));
  if (level.value !== undefined) level.counts[levels.length - 1] = level.value;
}

interface Continuations {
  /** The numbers that an outermost list counts on from, or new ones. */
  countsOf(style: string | undefined, attributes: Attributes): Counts;
}

/** Remembers which numbers lists have reached, by their ids and their styles. */
function createContinuations(): Continuations {
  const byId = new Map<string, Counts>();
  const byStyle = new Map<string, Counts>();
  return {
    countsOf: (style = '', attributes) => {
      const named = lookUp(byId, attributes['text:continue-list']);
      const before = attributes['text:continue-numbering'] === 'true' ? byStyle.get(style) : undefined;
      const counts = named ?? before ?? [];
      const id = attributes['xml:id'];
      if (id !== undefined && byId.size < MAX_LISTS) byId.set(id, counts);
      if (byStyle.size < MAX_LISTS) byStyle.set(style, counts);
      return counts;
    },
  };
}

/** The style of a level's numbers; undefined where it has none. */
type NumbersOf = (level: number) => NumberStyle | undefined;

/** The numbers of lists that count on from each other, from the outermost level. */
type Counts = number[];

/** Counts one item of a level, from 1, and begins the levels below it anew. */
function countItem(counts: Counts, level: number, numbers: NumbersOf): void {
  for (let above = 1; above <= level; above += 1) counts[above - 1] ??= (numbers(above)?.start ?? 1) - 1;
  counts[level - 1] = at(counts, level - 1) + 1;
  counts.length = level;
}

/** The number of the item that was counted last, such as `2.1.`; empty where none is shown. */
function shownCount(counts: Counts, level: number, numbers: NumbersOf): string {
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
