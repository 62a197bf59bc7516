import { bulletMark } from '../signs/bullets.js';
import type { Attributes } from '../xml/read-markup.js';
import type { Styles } from './styles.js';

interface ListLevel {
  /** The style of the list. */
  readonly style: string | undefined;
  /** Whether the next paragraph is the first one of an item. */
  isFresh: boolean;
}

/** Follows nested lists. A text box or a cell begins anew. */
export interface ListTracker {
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
  /** What is put in front of a paragraph; undefined outside of lists. */
  mark(): string | undefined;
}

const DEEPEST_INDENT = 8;
const FRAMES = new Set(['draw:text-box', 'table:table-cell', 'text:note-body']);

export function createLists(styles: Pick<Styles, 'bullet'>): ListTracker {
  const frames: ListLevel[][] = [[]];
  return {
    open: (name, attributes) => {
      if (FRAMES.has(name)) frames.push([]);
      const levels = frames.at(-1);
      if (name === 'text:list')
        levels?.push({ isFresh: false, style: attributes['text:style-name'] ?? levels.at(-1)?.style });
      const level = levels?.at(-1);
      if (name === 'text:list-item' && level) level.isFresh = true;
    },
    close: (name) => {
      if (FRAMES.has(name)) frames.pop();
      if (name === 'text:list') frames.at(-1)?.pop();
    },
    mark: () => {
      const levels = frames.at(-1) ?? [];
      const level = levels.at(-1);
      if (!level) return undefined;
      const indent = '  '.repeat(Math.min(levels.length - 1, DEEPEST_INDENT));
      const { sign, font } = styles.bullet(level.style, levels.length) ?? { sign: '', font: undefined };
      const mark = level.isFresh ? bulletMark(sign, font) : '  ';
      level.isFresh = false;
      return indent + mark;
    },
  };
}
