import { editDistance } from './edit-distance.js';
import type { MarkKind, Sample } from './sample.js';

export interface Share {
  readonly right: number;
  readonly of: number;
}

export interface Measured {
  /** Characters that would have to be changed, and how many there are. */
  readonly wrongCharacters: number;
  readonly characters: number;
  readonly cells: Share;
  readonly marks: Readonly<Record<MarkKind, Share>>;
  /** The faults, in sentences. */
  readonly complaints: readonly string[];
}

const UNSEEN = /[\u00ad\u200b-\u200f\u2060\ufeff\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;

/** The line of a Markdown table below the names of its columns. */
const RULE = /^\|(?: --- \|)+$/;

/**
 * Holds what was read against what was written.
 * @param goesOverPages whether a table may go on on the next page, where it is another one
 */
export function measure(
  sample: Sample,
  read: string,
  { goesOverPages = false }: { readonly goesOverPages?: boolean } = {},
): Measured {
  const expected = linear(sample.text);
  const found = linear(read);
  const wrongCharacters = editDistance(Array.from(expected), Array.from(found));
  const complaints: string[] = [];
  if (wrongCharacters > 0) complaints.push(differenceOf(expected, found));
  return {
    wrongCharacters,
    characters: Array.from(expected).length,
    cells: cellsRight(
      sample.tables,
      goesOverPages ? wholeTables(sample.tables, tablesIn(read)) : tablesIn(read),
      complaints,
    ),
    marks: marksRight(sample, read, complaints),
    complaints,
  };
}

/** Text as characters in a row: without the marks of tables and lists, and without what nobody sees. */
function linear(text: string): string {
  return text
    .split('\n')
    .filter((line) => !/^Slide \d+$/.test(line))
    .map((line) => (RULE.test(line) ? '' : line.replace(/^\s*- /, '')))
    .map((line) => (line.startsWith('| ') ? cellsOf(line).join(' ') : line))
    .join(' ')
    .normalize('NFC')
    .replace(UNSEEN, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The tables of a Markdown text, each by rows of cells. */
function tablesIn(text: string): string[][][] {
  const tables: string[][][] = [];
  let isWithin = false;
  for (const line of text.split('\n')) {
    if (RULE.test(line)) continue;
    const isRow = line.startsWith('| ');
    if (isRow && isWithin) tables.at(-1)?.push(cellsOf(line));
    else if (isRow) tables.push([cellsOf(line)]);
    isWithin = isRow;
  }
  return tables;
}

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));

/** Adds a table whose first row names no columns to the one before it, of which it is the rest. */
function wholeTables(expected: Sample['tables'], found: readonly string[][][]): string[][][] {
  const names = new Set(expected.map(([first = []]) => first.join('|')));
  const whole: string[][][] = [];
  for (const rows of found) {
    const last = whole.at(-1);
    if (last && !names.has(rows[0]?.join('|') ?? '')) last.push(...rows);
    else whole.push([...rows]);
  }
  return whole;
}

/** Tables are held against those that are read in the same order. */
function cellsRight(
  expected: Sample['tables'],
  found: readonly (readonly (readonly string[])[])[],
  complaints: string[],
): Share {
  let right = 0;
  let of = 0;
  for (const [index, table] of expected.entries()) {
    const read = withoutEmptyColumns(found[index] ?? []);
    const before = right;
    const cells = table.flatMap((row, y) =>
      row.map((cell, x) => linear(cell) === linear(read[y]?.[x] ?? '')),
    );
    right += cells.filter(Boolean).length;
    of += cells.length;
    if (right - before < cells.length)
      complaints.push(
        `table ${String(index + 1)}: ${JSON.stringify(table)}\n      read: ${JSON.stringify(read)}`,
      );
  }
  return { right, of };
}

/** A sheet may have such columns before its table. */
function withoutEmptyColumns(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const isUsed = (column: number): boolean => rows.some((cells) => (cells[column] ?? '') !== '');
  return rows.map((cells) => cells.filter((_, column) => isUsed(column)));
}

function marksRight({ marks }: Sample, read: string, complaints: string[]): Measured['marks'] {
  const counts = { raised: newCount(), symbol: newCount(), invisible: newCount() };
  const whole = read.replaceAll('\\|', '|').normalize('NFC');
  const [text, seen] = [whole, whole.replace(UNSEEN, '')].map((each) => each.replace(/\s+/g, ' '));
  for (const { kind, written } of marks) {
    const wanted = written.normalize('NFC');
    const isRight = text?.includes(wanted) === true || seen?.includes(wanted) === true;
    counts[kind].of += 1;
    if (isRight) counts[kind].right += 1;
    else complaints.push(`${kind}: ${JSON.stringify(written)} is not there`);
  }
  return counts;
}

const newCount = (): { right: number; of: number } => ({ right: 0, of: 0 });

/** The place where two texts part, with some characters around. */
function differenceOf(expected: string, found: string): string {
  let start = 0;
  while (start < expected.length && expected[start] === found[start]) start += 1;
  let end = 0;
  const most = Math.min(expected.length, found.length) - start;
  while (end < most && expected.at(-1 - end) === found.at(-1 - end)) end += 1;
  const part = (text: string): string =>
    JSON.stringify(text.slice(Math.max(0, start - 15), text.length - Math.max(0, end - 15)).slice(0, 240));
  return `text: ${part(expected)}\n      read: ${part(found)}`;
}
