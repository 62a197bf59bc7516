import { attribute } from '../../xml/read-markup.js';
import type { OfficePackage } from '../package/office-package.js';
import { isVanished } from './run-look.js';
import { bulletMark } from '../../signs/sign-reader.js';
import {
  wholeNumberOrZero,
  childOf,
  childrenOf,
  valueOf,
  wholeNumber,
  valueOrEmpty,
} from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import { countedAs } from '../../count-formats.js';

interface Level {
  readonly format: string;
  /** The form of the number, such as `%1.%2`, where the numbers belong to levels. */
  readonly text: string;
  readonly start: number;
  /** The style of the paragraphs that are on this level without saying so. */
  readonly style: string | undefined;
  /** The font of its mark. */
  readonly font: string | undefined;
  /** True if its mark is not shown. */
  readonly isVanished: boolean;
}

interface List {
  /** The key that lists share which count together. */
  readonly group: string;
  readonly levels: ReadonlyMap<number, Level>;
  /** Levels that begin anew with this list. */
  readonly starts: ReadonlyMap<number, number>;
}

export interface Numbering {
  /** The mark before the next paragraph of a list, such as `- ` or `2.1 `; undefined when there is no such list. */
  next(list: string, level: number): string | undefined;
  /** Tells whether the marks of a level are not shown. */
  isVanished(list: string, level: number): boolean;
  /** The level of the paragraphs of a style. */
  levelOf(list: string, style: string | undefined): number;
}

/** Reads the lists of a Word file and counts their paragraphs (ECMA-376 part 1, 17.9). */
export function readNumbering(office: OfficePackage, part: string | undefined): Numbering {
  const lists = readLists(part === undefined ? undefined : office.tree(part));
  const counts = new Map<string, number[]>();
  const begun = new Set<string>();
  return {
    levelOf(id, style) {
      for (const [level, { style: own }] of lists.get(id)?.levels ?? []) if (own === style) return level;
      return 0;
    },
    isVanished: (id, level) => lists.get(id)?.levels.get(level)?.isVanished === true,
    next(id, level) {
      const list = lists.get(id);
      const { format, text, start, font } = list?.levels.get(level) ?? {};
      if (!list || format === undefined || text === undefined) return undefined;
      if (format === 'bullet') return bulletMark(text, font);
      const count = counts.get(list.group) ?? [];
      counts.set(list.group, count);
      if (!begun.has(id)) for (const [each, first] of list.starts) count[each] = first - 1;
      begun.add(id);
      count[level] = (count[level] ?? (start ?? 1) - 1) + 1;
      count.length = level + 1;
      const mark = format === 'none' ? '' : writeMark(text, count, list.levels);
      return mark === '' ? '' : `${mark} `;
    },
  };
}

function writeMark(text: string, count: readonly number[], levels: ReadonlyMap<number, Level>): string {
  const written = text.replace(/%([1-9])/g, (_, digit: string) => {
    const level = Number(digit) - 1;
    return countedAs(count[level] ?? levels.get(level)?.start ?? 1, levels.get(level)?.format ?? 'decimal');
  });
  return written.trim();
}

function readLists(tree: XmlElement | undefined): ReadonlyMap<string, List> {
  const groups = new Map<string, XmlElement>();
  const byStyle = new Map<string, string>();
  for (const group of childrenOf(tree, 'w:abstractNum')) {
    const id = attribute(group.attributes, 'w:abstractNumId');
    groups.set(id, group);
    const style = valueOf(group, 'w:styleLink');
    if (style !== undefined) byStyle.set(style, id);
  }
  const lists = new Map<string, List>();
  for (const list of childrenOf(tree, 'w:num')) {
    const named = valueOrEmpty(list, 'w:abstractNumId');
    const link = valueOf(groups.get(named), 'w:numStyleLink');
    const group = (link === undefined ? undefined : byStyle.get(link)) ?? named;
    lists.set(attribute(list.attributes, 'w:numId'), readList(group, groups.get(group), list));
  }
  return lists;
}

function readList(group: string, shared: XmlElement | undefined, list: XmlElement): List {
  const levels = new Map([...childrenOf(shared, 'w:lvl')].map(readLevel));
  const starts = new Map<number, number>();
  for (const override of childrenOf(list, 'w:lvlOverride')) {
    const level = wholeNumberOrZero(override.attributes['w:ilvl'], 8);
    const start = wholeNumber(valueOf(override, 'w:startOverride'), 100_000);
    if (start !== undefined) starts.set(level, start);
    const own = childOf(override, 'w:lvl');
    if (own) levels.set(...readLevel(own));
  }
  return { group, levels, starts };
}

function readLevel(level: XmlElement): [number, Level] {
  const look = childOf(level, 'w:rPr');
  return [
    wholeNumberOrZero(level.attributes['w:ilvl'], 8),
    {
      format: valueOf(level, 'w:numFmt') ?? 'decimal',
      text: valueOrEmpty(level, 'w:lvlText'),
      start: wholeNumber(valueOf(level, 'w:start'), 100_000) ?? 1,
      style: valueOf(level, 'w:pStyle'),
      font: childOf(look, 'w:rFonts')?.attributes['w:hAnsi'],
      isVanished: isVanished(look) === true,
    },
  ];
}
