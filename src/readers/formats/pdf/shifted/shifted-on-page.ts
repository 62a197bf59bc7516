import { findShifted } from './find-shifted.js';
import type { ShiftedText, TextRun } from './shifted-text.js';
import { inWriting } from './stacks.js';
import { writtenShifted } from './write-shifted.js';

/** A text as pdf.js gives it, with its matrix on the page; marks of content have none. */
export interface TextContentItem {
  str?: string;
  /** True if the line ends with it. */
  hasEOL?: boolean;
  transform?: readonly number[];
  readonly width?: number;
  readonly height?: number;
  readonly fontName?: string;
}

/** Texts on one line differ by less in height, in sizes of their font. */
const SAME_LINE = 0.5;

/** A page of pdf.js. */
export interface TextPage {
  getViewport(options: { scale: number }): { readonly transform: readonly number[] };
  getTextContent(options?: object): Promise<TextContent>;
}

interface TextContent {
  readonly items: readonly TextContentItem[];
  /** The facts about fonts, by their names. */
  readonly styles?: Readonly<Record<string, { readonly vertical?: boolean } | undefined>>;
}

/** The raised and lowered texts of a page. Those that run in other directions than from left to right are not looked for. */
export async function shiftedOnPage(page: TextPage): Promise<readonly ShiftedText[]> {
  const { items } = await page.getTextContent();
  return findShifted(runsOf(items, page).map(({ run }) => run));
}

/** Makes the page give its raised and lowered texts as such, later drawn ones behind the texts that they belong to. */
export function writeShiftedOn(page: TextPage): void {
  if (Object.hasOwn(page, 'getTextContent')) return;
  const read = page.getTextContent.bind(page);
  page.getTextContent = async (options) => {
    const content = await read(options);
    const runs = runsOf(content.items, page);
    const all = findShifted(runs.map(({ run }) => run));
    if (all.length > 0) {
      joinLines(content.items, runs, all);
      writeShifted(runs, all);
    }
    return content;
  };
}

function writeShifted(runs: readonly PageRun[], all: readonly ShiftedText[]): void {
  const items = new Map(runs.map(({ run, item }) => [run, item]));
  const places = new Map(runs.map(({ run }, at) => [run, at]));
  const placeOf = (run: TextRun): number => places.get(run) ?? 0;
  const done = new Set<TextRun | undefined>();
  for (const shifted of all) {
    if (done.has(shifted.runs[0])) continue;
    const stack = inWriting(shifted);
    for (const { runs: own } of stack) done.add(own[0]);
    const written = stack.map(writtenShifted).join('');
    const own = stack.flatMap((each) => each.runs).toSorted((a, b) => placeOf(a) - placeOf(b));
    const isApart = isBehind(shifted) && !own.some((run) => runs[placeOf(run) - 1]?.run === shifted.base);
    const base = isApart ? items.get(shifted.base) : undefined;
    if (base) base.str = `${base.str ?? ''}${written}`;
    for (const [at, run] of own.entries()) {
      const item = items.get(run);
      if (item) item.str = at === 0 && !isApart ? written : '';
    }
  }
}

/**
 * Joins lines that pdf.js ends where the next text stands much higher or lower: raised and lowered text stays on the line
 * of its base.
 */
function joinLines(
  items: readonly TextContentItem[],
  runs: readonly PageRun[],
  all: readonly ShiftedText[],
): void {
  const bases = new Map(all.flatMap(({ runs: own, base }) => own.map((run) => [run, base] as const)));
  const transforms = new Map(runs.map(({ run, item }) => [run, item.transform]));
  for (const { run, item } of runs) {
    const base = bases.get(run);
    const [, , , , , y] = base ? (transforms.get(base) ?? []) : [];
    if (y !== undefined && item.transform) item.transform = item.transform.with(5, y);
  }
  const places = new Map(items.map((item, at) => [item, at]));
  for (const [at, { run, item }] of runs.entries()) {
    const next = runs[at + 1];
    if (!next || !(bases.has(run) || bases.has(next.run))) continue;
    const [line, below] = [bases.get(run) ?? run, bases.get(next.run) ?? next.run];
    if (Math.abs(line.y - below.y) > SAME_LINE * line.size || next.run.x < line.x) continue;
    for (const each of items.slice(places.get(item), places.get(next.item))) each.hasEOL = false;
  }
}

const isBehind = ({ base, before, runs: [first] }: ShiftedText): boolean =>
  first !== undefined && first.x > base.x + base.width / 2 && before.endsWith(base.text);

interface PageRun {
  readonly run: TextRun;
  readonly item: TextContentItem;
}

function runsOf(items: readonly TextContentItem[], page: TextPage): PageRun[] {
  const shown = page.getViewport({ scale: 1 }).transform;
  return items.flatMap((item) => {
    const { str = '', transform = [], width = 0 } = item;
    const [a, b, , d, x, y] = timesMatrix(transform, shown);
    const isLevel = a > 0 && Math.abs(b) < 0.01 * a && d < 0;
    return isLevel && str.trim() !== '' ? [{ run: { text: str, x, y, width, size: -d }, item }] : [];
  });
}

/** The product of two matrices (ISO 32000-1, 8.3.3). */
export function timesMatrix(
  [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0]: readonly number[],
  [A = 1, B = 0, C = 0, D = 1, E = 0, F = 0]: readonly number[],
): readonly [number, number, number, number, number, number] {
  return [a * A + b * C, a * B + b * D, c * A + d * C, c * B + d * D, e * A + f * C + E, e * B + f * D + F];
}
