import { shownNumber, styledNumber } from '../count-formats.js';
import { firstGroup } from '../../blocks/matches.js';

/** Elements that are lists. */
export const LISTS = new Set(['ul', 'ol']);

type Attributes = Readonly<Record<string, string>>;

/** The open lists, and the marks before their items. */
export interface HtmlLists {
  readonly depth: number;
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
  /** Takes the first numbers of the lists that count down to 1, in their order. */
  countDown(firsts: readonly number[]): void;
  /** The mark of an item that begins, indented: its number as browsers show it, or a dash. @param style its `list-style-type` */
  item(attributes: Attributes, style: string | undefined): string;
}

interface OpenList {
  next: number;
  /** True if items are numbered unless a style says otherwise. */
  readonly isOrdered: boolean;
  readonly step: number;
  /** `1`, `a`, `A`, `i` or `I`. */
  readonly type: string;
}

/** Numbers of more digits are no numbers of items. */
const INTEGER = /^\s*([+-]?\d{1,9})(?!\d)/;

/** Values of `list-style-type` that show a bullet or a text. Where they show nothing (`none`), counters often show numbers. */
const BULLET = /^(?:disc|circle|square|disclosure-.*|symbols\(.*|["'].*)$/;
const MAX_INDENT = 8;

export function createHtmlLists(): HtmlLists {
  const lists: OpenList[] = [];
  let firsts: readonly number[] = [];
  let countdowns = 0;
  return {
    get depth() {
      return lists.length;
    },
    open: (name, attributes) => {
      if (!LISTS.has(name)) return;
      lists.push(openList(name, attributes, firsts[countdowns] ?? 1));
      if (isCountdown(name, attributes)) countdowns += 1;
    },
    close: (name) => {
      if (LISTS.has(name)) lists.pop();
    },
    countDown: (counted) => {
      firsts = counted;
    },
    item: (attributes, style) => {
      const indent = '  '.repeat(Math.min(Math.max(lists.length - 1, 0), MAX_INDENT));
      return `${indent}${markOf(lists.at(-1), attributes, style)} `;
    },
  };
}

function markOf(list: OpenList | undefined, { value, type }: Attributes, style: string | undefined): string {
  if (!list) return '-';
  const number = integerOf(value) ?? list.next;
  list.next = number + list.step;
  if (style !== undefined && BULLET.test(style)) return '-';
  const styled = style === undefined ? undefined : styledNumber(number, style);
  const own = list.isOrdered ? shownNumber(number, type?.trim() ?? list.type) : undefined;
  const shown = styled ?? own;
  return shown === undefined ? '-' : `${shown}.`;
}

/** Tells whether a list counts down from the number of its items. */
export const isCountdown = (name: string, { reversed, start }: Attributes): boolean =>
  name === 'ol' && reversed !== undefined && integerOf(start) === null;

function openList(name: string, attributes: Attributes, countdown: number): OpenList {
  const { start, type = '1', reversed } = attributes;
  return {
    next: isCountdown(name, attributes) ? countdown : (integerOf(start) ?? 1),
    isOrdered: name === 'ol',
    step: reversed === undefined ? 1 : -1,
    type: type.trim(),
  };
}

function integerOf(text: string | undefined): number | null {
  const digits = firstGroup(INTEGER, text);
  return digits === '' ? null : Number(digits);
}
