import { at } from '../../../../shared/at.js';
import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import type { ReceiptWriter } from '../../../receipt/receipt-writer.js';
import { bottomOf, rightOf } from '../../pages/layout/piece.js';
import { charactersWide } from '../../pages/layout/unspaced-lines.js';
import type { Turn } from '../../pages/pdfium.js';
import type { createPageObjects, Objects } from '../judging/page-objects.js';
import type { SecondReader } from '../pdfjs/second-reader.js';
import { withItems, withTexts } from '../with-items.js';
import { charactersOf, type WorkBudget } from '../work-budgets.js';
import { hasSupplementary, type PlacedText } from './placed-texts.js';

const LOST =
  'Characters beyond U+FFFF, such as emoji, rare ideographs and the italic letters of formulas, were left out.';
/** The number of runs of them that are put into the texts of a page. */
const MAX_RUNS = 2_000;
/** The texts of a page that are passed over in the time of a character of a line. */
const ITEMS_OF_CHARACTER = 50;
/** Supplementary characters with the spaces and the signs that join or vary them. */
const RUN =
  /(?<![\s\ufe0f\u200d])[\s\ufe0f\u200d]*[\u{10000}-\u{10ffff}][\s\ufe0f\u200d\u{10000}-\u{10ffff}]*/gu;

interface Source {
  readonly second: Pick<SecondReader, 'supplementary' | 'object'>;
  readonly objects: Pick<ReturnType<typeof createPageObjects>, 'mayUse'>;
  /** The maps of fonts that have such characters. */
  readonly maps: Objects;
  readonly receipt: ReceiptWriter;
  readonly budget: WorkBudget;
}

/** Puts the characters beyond U+FFFF, which PDFium's reader leaves out, where pdf.js finds them; a gap names pages where they stay out. */
export function createSupplementary({ second, objects, maps, receipt, budget }: Source) {
  const mayLack = async (page: number): Promise<boolean> =>
    maps === 'any' || (maps.size > 0 && objects.mayUse(await second.object(page), { objects: maps }));
  const readPage = async (page: ParsedPage, isTurned: boolean): Promise<ParsedPage> => {
    const number = page.pageNum;
    if (!(await mayLack(number)) || page.textItems.some(({ text }) => hasSupplementary(text))) return page;
    if (budget.isSpent()) {
      budget.miss(number);
      return page;
    }
    if (!isTurned) budget.spend(charactersOf(page));
    const found = isTurned ? undefined : await budget.during(() => second.supplementary(number));
    const runs = found?.flatMap(runsOf) ?? [];
    let placed = page;
    let count = 0;
    for (const run of runs.slice(0, MAX_RUNS)) {
      if (budget.isSpent()) break;
      const line = lineOf(placed, run);
      budget.spend(line.length + placed.textItems.length / ITEMS_OF_CHARACTER);
      placed = withRun(placed, run, line);
      count += 1;
    }
    // The pages of an encrypted file may have such characters, which nobody knows.
    const isLost = found ? found.some(({ isLevel }) => !isLevel) : maps !== 'any';
    if (isLost || count < runs.length)
      receipt.addGap('garbled', LOST, { pages: { first: number, last: number } });
    return placed;
  };
  return {
    async find(pages: readonly ParsedPage[], turns: ReadonlyMap<number, Turn>): Promise<ParsedPage[]> {
      const read: ParsedPage[] = [];
      for (const page of pages) read.push(await readPage(page, turns.has(page.pageNum)));
      return read;
    },
  };
}

/** A gap that is narrower, in heights of the letters, is no space, and none where a text says that there is none. */
const MAX_BEARING = 0.2;
const FARTHEST = 2;

/** Characters that stand side by side, with the text before and after them in the same text. */
interface Run {
  readonly text: string;
  readonly before: string;
  readonly after: string;
  readonly box: PlacedText['box'];
}

function runsOf({ text, box, isLevel }: PlacedText): Run[] {
  if (!isLevel) return [];
  const widths = widthsBefore(text);
  const unit = box.width / Math.max(1, at(widths, text.length));
  return [...text.matchAll(RUN)].map(({ index, 0: run }) => {
    const end = index + run.length;
    return {
      text: run,
      before: plain(text.slice(Math.max(0, index - NEAR), index)).slice(-1),
      after: plain(text.slice(end, end + NEAR)).charAt(0),
      box: {
        ...box,
        x: box.x + unit * at(widths, end - run.trimStart().length),
        width: unit * charactersWide(run.trim()),
      },
    };
  });
}

/** The length of the text in which the neighbour of a run is sought. */
const NEAR = 32;

/** Returns the width before each place of a text, in wide characters, and last the whole width. */
function widthsBefore(text: string): Float64Array {
  const widths = new Float64Array(text.length + 1);
  let place = 0;
  for (const character of text) {
    const width = at(widths, place) + charactersWide(character);
    widths.fill(width, place + 1, place + character.length + 1);
    place += character.length;
  }
  return widths;
}

const plain = (text: string): string => text.normalize('NFKC').replace(/\s/g, '');

/** A place between two characters of a line, each with the item and the place in it where it stands. */
interface Character {
  readonly item: TextItem;
  readonly at: number;
  readonly text: string;
  readonly x: number;
  readonly right: number;
}

/** The characters of the line of a page in which a run stands. */
function lineOf({ textItems }: ParsedPage, { box }: Run): readonly Character[] {
  const middle = box.y + box.height / 2;
  const line = textItems.filter((item) => item.y <= middle && bottomOf(item) >= middle);
  return line.toSorted((a, b) => a.x - b.x).flatMap(placedCharacters);
}

function withRun(page: ParsedPage, run: Run, characters: readonly Character[]): ParsedPage {
  const at = placeOf(run, characters);
  const [before, after] = [characters[at - 1], characters[at]];
  if (after && before?.item === after.item) {
    const { text } = before.item;
    const end = before.at + before.text.length;
    return withTexts(page, new Map([[before.item, text.slice(0, end) + run.text + text.slice(after.at)]]));
  }
  return withItems(page, [itemBetween(run, before, after)]);
}

/** The place among the characters of a line that has the same neighbours as a run of others, the nearest one. */
function placeOf({ before, after, box }: Run, characters: readonly Character[]): number {
  const costs = Array.from({ length: characters.length + 1 }, (_, at) => {
    const [last, next] = [characters[at - 1], characters[at]];
    const others = [
      [before, last],
      [after, next],
    ] as const;
    const unlike = others.filter(
      ([own, other]) => own !== '' && (other === undefined || plain(other.text) !== own),
    ).length;
    const x = last && next ? (last.right + next.x) / 2 : (last?.right ?? next?.x ?? 0);
    return 1_000_000 * unlike + Math.abs(x - (box.x + box.width / 2));
  });
  return costs.reduce((best, cost, at) => (cost < (costs[best] ?? Infinity) ? at : best), 0);
}

/** The characters of a text that are no spaces, each as wide as the others of its width. */
function placedCharacters(item: TextItem): Character[] {
  const widths = widthsBefore(item.text);
  const unit = item.width / Math.max(1, at(widths, item.text.length));
  return [...item.text.matchAll(/\S/gu)].map(({ index, 0: text }) => {
    const x = item.x + unit * at(widths, index);
    return { item, at: index, text, x, right: x + unit * charactersWide(text) };
  });
}

/** Makes a text between two others of a line, without a gap where there is no space: PDFium's boxes surround the ink. */
function itemBetween({ text, before: last, after: next, box }: Run, before?: Character, after?: Character) {
  const from = before ? rightOf(before.item) : -Infinity;
  const to = after ? after.item.x : Infinity;
  const isClosed = (gap: number, beside: string) =>
    gap < (beside === '' ? MAX_BEARING : FARTHEST) * box.height;
  const opensBeside = /^\S/.test(text) && isClosed(box.x - from, last);
  const endsBeside = /\S$/.test(text) && isClosed(to - rightOf(box), next);
  const x = Math.min(opensBeside ? from : Math.max(from, box.x), to - 1);
  const end = endsBeside ? to : Math.min(to, rightOf(box));
  const like: Partial<TextItem> = before?.item ?? after?.item ?? {};
  const { y = box.y, height = box.height, fontHeight = box.height } = like;
  return { text: text.trim(), x, y, width: Math.max(1, end - x), height, rotation: 0, fontHeight };
}
