import { shownNumber } from '../lists/count-formats.js';

/** Elements that are lists. */
export const LISTS = new Set(['ul', 'ol']);

type Attributes = Readonly<Record<string, string>>;

/** The lists that are open, and what stands before their items. */
export interface HtmlLists {
  readonly depth: number;
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
  /** The mark of an item that begins: its number as browsers show it, or a dash. */
  item(attributes: Attributes): string;
}

interface OpenList {
  /** Null where items have no number, or none that can be known before the end of the list. */
  next: number | null;
  readonly step: number;
  /** `1`, `a`, `A`, `i` or `I`. */
  readonly type: string;
}

/** Numbers of more digits are no numbers of items. */
const INTEGER = /^\s*([+-]?\d{1,9})(?!\d)/;

export function createHtmlLists(): HtmlLists {
  const lists: OpenList[] = [];
  return {
    get depth() {
      return lists.length;
    },
    open: (name, attributes) => {
      if (LISTS.has(name)) lists.push(openList(name, attributes));
    },
    close: (name) => {
      if (LISTS.has(name)) lists.pop();
    },
    item: (attributes) => {
      const list = lists.at(-1);
      if (!list) return '-';
      const number = list.next === null ? null : (integerOf(attributes['value']) ?? list.next);
      if (number === null) return '-';
      list.next = number + list.step;
      return `${shownNumber(number, list.type)}.`;
    },
  };
}

/** A list that counts down from the number of its items, which are not known yet, is read without numbers. */
function openList(name: string, { start, type = '1', reversed }: Attributes): OpenList {
  const first = integerOf(start) ?? (reversed === undefined ? 1 : null);
  return {
    next: name === 'ol' ? first : null,
    step: reversed === undefined ? 1 : -1,
    type: type.trim(),
  };
}

function integerOf(text: string | undefined): number | null {
  const digits = INTEGER.exec(text ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
}
