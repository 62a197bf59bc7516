import { findShifted, type ShiftedText, type TextRun } from './find-shifted.js';
import { writtenShifted } from './write-shifted.js';

/** A text as pdf.js gives it, with its matrix on the page; marks of content have none. */
export interface TextContentItem {
  str?: string;
  readonly transform?: readonly number[];
  readonly width?: number;
  readonly height?: number;
  readonly fontName?: string;
}

/** A page of pdf.js. */
export interface TextPage {
  getViewport(options: { scale: number }): { readonly transform: readonly number[] };
  getTextContent(options?: object): Promise<TextContent>;
}

interface TextContent {
  readonly items: readonly TextContentItem[];
  /** What is known of fonts, by their names. */
  readonly styles?: Readonly<Record<string, { readonly vertical?: boolean } | undefined>>;
}

/** The raised and lowered texts of a page. Those that run in other directions than from left to right are not looked for. */
export async function shiftedOnPage(page: TextPage): Promise<readonly ShiftedText[]> {
  const { items } = await page.getTextContent();
  return findShifted(runsOf(items, page).map(({ run }) => run));
}

/** Has the page give its raised and lowered texts as such, those that are drawn later behind what they belong to. */
export function writeShiftedOn(page: TextPage): void {
  if (Object.hasOwn(page, 'getTextContent')) return;
  const read = page.getTextContent.bind(page);
  page.getTextContent = async (options) => {
    const content = await read(options);
    const runs = runsOf(content.items, page);
    const items = new Map(runs.map(({ run, item }) => [run, item]));
    const before = new Map(runs.map(({ run }, at) => [run, runs[at - 1]?.run]));
    for (const shifted of findShifted(runs.map(({ run }) => run))) {
      const shiftedItems = shifted.runs.map((run) => items.get(run));
      const [base, written] = [items.get(shifted.base), writtenShifted(shifted)];
      const isApart =
        isBehind(shifted) && shifted.runs.slice(0, 1).every((run) => before.get(run) !== shifted.base);
      if (base && isApart) base.str = `${base.str ?? ''}${written}`;
      for (const [at, item] of shiftedItems.entries())
        if (item) item.str = at === 0 && !isApart ? written : '';
    }
    return content;
  };
}

const isBehind = ({ base, before, runs: [first] }: ShiftedText): boolean =>
  first !== undefined && first.x > base.x + base.width / 2 && before.endsWith(base.text);

function runsOf(
  items: readonly TextContentItem[],
  page: TextPage,
): { run: TextRun; item: TextContentItem }[] {
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
