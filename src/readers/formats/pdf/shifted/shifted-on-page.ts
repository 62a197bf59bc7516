import type { Shift } from '../../baseline/shift.js';
import type { TextContentItem, TextPage } from '../pdfjs/page-text.js';
import type { ShiftedText, TextRun } from './shifted-text.js';
import { inWriting, areStacked, withStacks } from './stacks.js';
import { writtenShifted } from './with-shifted.js';
import { valueOf } from '../../../../shared/at.js';

/** Texts on one line differ by less in height, in sizes of their font. */
const SAME_LINE = 0.5;

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
  const placeOf = (run: TextRun): number => valueOf(places, run);
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

/** A page of more runs is read as it is. */
const MAX_RUNS = 8_000;
/** More runs about the height of another are not compared with it. */
const MAX_COMPARED = 400;
/** The sizes of shifted text, in sizes of the text beside it. */
const SIZES = { least: 0.4, most: 0.92 };
/** The distance of its baseline from the baseline of its line, in sizes of the text there. */
const RAISED = { least: 0.1, most: 0.75 };
const LOWERED = { least: 0.05, most: 0.5 };
/**
 * The greatest distance from the text beside it, in sizes of that text, and the greatest depth to which it may reach into
 * it.
 */
const FARTHEST = 0.4;
const MAX_DEPTH = 0.3;
/** A wider gap is a space. */
const SPACE = 0.13;
/** Sizes of texts at the same base differ by a smaller share. */
const SAME_SIZE = 0.15;
/** A longer text is small print, or the line beside a large initial. */
const MAX_LENGTH = 40;
/** This many texts on each side tell the surroundings. */
const CONTEXT = 3;
/** Texts beside shifted ones are larger than this, in points, only on posters. */
const MAX_SIZE = 60;

/**
 * Finds raised and lowered texts, by their sizes and baselines: smaller text on the same baseline, such as small capitals,
 * is not shifted.
 */
function findShifted(all: readonly TextRun[]): readonly ShiftedText[] {
  const runs = all.filter(({ text }) => text.trim() !== '');
  const largest = Math.max(0, ...runs.slice(0, MAX_RUNS).map(({ size }) => size));
  if (runs.length > MAX_RUNS || runs.every(({ size }) => size >= largest * SIZES.most)) return [];
  const near = createNeighbours(runs);
  const found = new Map<TextRun, Shifted>();
  for (const run of runs.toSorted((a, b) => a.x - b.x)) {
    const base = withPartner(run, near(run), found) ?? baseOf(run, near(run));
    if (base) found.set(run, base);
    else
      takeFrom(
        run,
        near(run).filter((other) => follows(run, other)),
        found,
      );
  }
  for (const run of runs.toSorted((a, b) => b.x - a.x))
    if (!found.has(run))
      takeFrom(
        run,
        near(run).filter((other) => follows(other, run)),
        found,
      );
  return withStacks(chainsOf(found).flatMap((chain) => toShiftedText(chain, { near, found }) ?? []));
}

interface Shifted {
  readonly run: TextRun;
  /** The text beside which it is shifted. */
  readonly base: TextRun;
  readonly shift: Shift;
}

/**
 * Finds the base of a text behind one that is shifted the other way, which has the same base: `4` and `2-` in the formula
 * of sulfate.
 */
function withPartner(
  run: TextRun,
  near: readonly TextRun[],
  found: ReadonlyMap<TextRun, Shifted>,
): Shifted | undefined {
  for (const other of near) {
    const partner = found.get(other);
    if (!partner || Math.abs(run.size / other.size - 1) > SAME_SIZE) continue;
    const gap = run.x - rightOf(other);
    if (gap < -SPACE * run.size || gap > SPACE * run.size) continue;
    const shift = shiftOf(partner.base.y - run.y, partner.base);
    if (shift !== undefined && shift !== partner.shift) return { run, base: partner.base, shift };
  }
  return undefined;
}

type Neighbours = (run: TextRun) => readonly TextRun[];

/** The runs about the height of another one. */
function createNeighbours(runs: readonly TextRun[]): Neighbours {
  const rows = new Map<number, TextRun[]>();
  const height = 12;
  for (const run of runs) {
    const row = Math.floor(run.y / height);
    rows.set(row, [...(rows.get(row) ?? []), run]);
  }
  return ({ y, size }) => {
    const reach = Math.min(MAX_SIZE, (size / SIZES.least) * RAISED.most);
    const near: TextRun[] = [];
    for (let row = Math.floor((y - reach) / height); row <= Math.floor((y + reach) / height); row += 1)
      near.push(...(rows.get(row) ?? []).slice(0, MAX_COMPARED));
    return near;
  };
}

const rightOf = ({ x, width }: TextRun): number => x + width;

/** The larger text that a run stands beside, on another baseline: before it, or else behind it. */
function baseOf(run: TextRun, near: readonly TextRun[]): Shifted | undefined {
  let best: Shifted | undefined;
  let least = Infinity;
  for (const base of near) {
    const ratio = run.size / base.size;
    if (ratio < SIZES.least || ratio > SIZES.most) continue;
    const shift = shiftOf(base.y - run.y, base);
    if (shift === undefined || isInitial(base, run)) continue;
    const [behind, ahead] = [run.x - rightOf(base), base.x - rightOf(run)];
    // A shifted text belongs to the text before it more often.
    const gap = isBeside(behind, base)
      ? Math.abs(behind)
      : isBeside(ahead, base)
        ? ahead + MAX_SIZE
        : Infinity;
    if (gap < least) {
      least = gap;
      best = { run, base, shift };
    }
  }
  return best;
}

function shiftOf(up: number, { size }: TextRun): Shift | undefined {
  if (up >= RAISED.least * size && up <= RAISED.most * size) return 'raised';
  return -up >= LOWERED.least * size && -up <= LOWERED.most * size ? 'lowered' : undefined;
}

const isBeside = (gap: number, { size }: TextRun): boolean =>
  gap >= -MAX_DEPTH * size && gap <= FARTHEST * size;

/** Tells whether a text may be a large initial, beside which the first of its lines stands higher. */
const isInitial = (base: TextRun, run: TextRun): boolean =>
  /^["'“”„«‘’¿¡]?\p{Lu}$/u.test(base.text.trim()) && run.size / base.size < 0.6 && run.text.trim().length > 3;

const isAlike = (one: TextRun, other: TextRun): boolean =>
  Math.abs(one.y - other.y) < 0.1 * one.size && Math.abs(one.size / other.size - 1) < 0.1;

const follows = (run: TextRun, other: TextRun): boolean =>
  other !== run && isAlike(run, other) && isBeside(run.x - rightOf(other), run);

/** Takes a run for shifted if a run beside it is. */
function takeFrom(run: TextRun, beside: readonly TextRun[], found: Map<TextRun, Shifted>): void {
  const other = beside.map((each) => found.get(each)).find((each) => each !== undefined);
  if (other) found.set(run, { ...other, run });
}

/** Shifted runs that stand side by side, each list from the left. */
function chainsOf(found: ReadonlyMap<TextRun, Shifted>): Shifted[][] {
  const chains: Shifted[][] = [];
  const open = new Map<number, Shifted[][]>();
  for (const shifted of [...found.values()].toSorted((a, b) => a.run.x - b.run.x)) {
    const row = Math.round(shifted.run.y);
    const rows = [row - 1, row, row + 1].flatMap((each) => open.get(each) ?? []);
    const chain = rows.find((each) => {
      const last = each.at(-1);
      return last?.shift === shifted.shift && follows(shifted.run, last.run);
    });
    if (chain) chain.push(shifted);
    else {
      const started = [shifted];
      chains.push(started);
      open.set(row, [...(open.get(row) ?? []).slice(-MAX_COMPARED), started]);
    }
  }
  return chains;
}

/** Tells whether a text stands on the line of another, or is shifted beside a text that does. */
function isOnLineOf(base: TextRun, run: TextRun, found: ReadonlyMap<TextRun, Shifted>): boolean {
  const line = found.get(run)?.base ?? run;
  return Math.abs(line.y - base.y) < SAME_LINE * base.size;
}

interface Page {
  readonly near: Neighbours;
  readonly found: ReadonlyMap<TextRun, Shifted>;
}

function toShiftedText(chain: readonly Shifted[], { near, found }: Page): ShiftedText | undefined {
  const [first] = chain;
  const last = chain.at(-1);
  if (!first || !last) return undefined;
  const runs = chain.map(({ run }) => run);
  const text = runs.reduce((all, run, at) => all + spaced(runs[at - 1], run) + run.text.trim(), '');
  if (text.length > MAX_LENGTH) return undefined;
  const { base, shift } = first;
  const beside = near(first.run)
    .filter((other) => !runs.includes(other) && isOnLineOf(base, other, found))
    .filter((other) => found.get(other)?.base !== base || !areStacked({ runs }, { runs: [other] }))
    .toSorted((a, b) => a.x - b.x);
  const inwards = MAX_DEPTH * base.size;
  const ahead = beside.filter((other) => rightOf(other) <= first.run.x + inwards).slice(-CONTEXT);
  const behind = beside.filter((other) => other.x >= rightOf(last.run) - inwards).slice(0, CONTEXT);
  return {
    runs,
    text,
    shift,
    base,
    before: ahead.map((other, at) => other.text + spaced(other, ahead[at + 1] ?? first.run)).join(''),
    after: behind.map((other, at) => spaced(behind[at - 1] ?? last.run, other) + other.text).join(''),
  };
}

const spaced = (before: TextRun | undefined, { x, size }: TextRun): string =>
  before && x - rightOf(before) > SPACE * Math.max(size, before.size) ? ' ' : '';
