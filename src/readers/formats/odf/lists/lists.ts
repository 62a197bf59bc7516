import { bulletMark } from '../../signs/bullets.js';
import type { Attributes } from '../../xml/read-markup.js';
import type { Styles } from '../styles.js';
import { countItem, shownCount, type Counts } from './counts.js';
import { wholeNumber } from './list-styles.js';

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
      const named = byId.get(attributes['text:continue-list'] ?? '');
      const before = attributes['text:continue-numbering'] === 'true' ? byStyle.get(style) : undefined;
      const counts = named ?? before ?? [];
      const id = attributes['xml:id'];
      if (id !== undefined && byId.size < MAX_LISTS) byId.set(id, counts);
      if (byStyle.size < MAX_LISTS) byStyle.set(style, counts);
      return counts;
    },
  };
}
