import type { FoundCell } from '../layout/lost-texts.js';
import { joinRun, rowsOf } from '../layout/lines.js';
import { around, bottomOf, lettersOf, type Piece } from '../layout/piece.js';
import { isNumeric } from './text-rows.js';
import type { Rectangle } from '../../../blocks/location.js';

/** More pairs of texts and cells are not compared. */
const MAX_COMPARED = 2_000_000;
/** The least number of columns of numbers below each other that tell rows. */
const MIN_COLUMNS = 2;

type Cells = readonly FoundCell[];

/** Parts rows that the reader has joined: rows with several lines, each with numbers in the same columns. */
export function splitRows(
  table: readonly Cells[],
  box: Rectangle,
  pieces: readonly Piece[],
): readonly Cells[] {
  if (pieces.length * table.flat().length > MAX_COMPARED) return table;
  const tops = table.map((row) => Math.min(...row.flatMap(({ bbox }) => bbox?.y ?? [])));
  return table.flatMap((row, index): readonly Cells[] => {
    // The box of a cell with several lines is the box of its first one.
    const [top = 0, end = bottomOf(box)] = [tops[index], tops[index + 1]];
    const within = pieces.filter(({ y, height }) => y + height / 2 > top && y + height / 2 < end);
    return linesOf(row, within) ?? [row];
  });
}

/** The lines of a row as rows of their own; none where they are not rows, or are not the texts of its cells. */
function linesOf(row: Cells, pieces: readonly Piece[]): Cells[] | undefined {
  const lines = rowsOf(pieces);
  if (lines.length < 2) return undefined;
  const texts = row.map((): Piece[] => []);
  for (const piece of lines.flat()) texts[columnOf(piece, row)]?.push(piece);
  const isOwn = row.every(({ text }, at) => lettersOf([text]) === lettersOf(textsOf(texts[at] ?? [])));
  const numbers = texts.filter(
    (own) =>
      own.length === lines.length &&
      own.every(({ text }) => isNumeric(text)) &&
      lines.every((line) => line.some((piece) => own.includes(piece))),
  );
  if (!isOwn || numbers.length < MIN_COLUMNS) return undefined;
  return lines.map((line) => texts.map((own) => cellOf(line.filter((piece) => own.includes(piece)))));
}

const textsOf = (pieces: readonly Piece[]): string[] => pieces.map(({ text }) => text);

/** The nearest of the cells that have a text. */
function columnOf({ text, x, width }: Piece, row: Cells): number {
  const far = ({ text: all, bbox }: FoundCell): number =>
    bbox && all.includes(text) ? Math.abs(bbox.x + bbox.width / 2 - x - width / 2) : Infinity;
  const distances = row.map(far);
  const least = Math.min(...distances);
  return least === Infinity ? -1 : distances.indexOf(least);
}

function cellOf(texts: readonly Piece[]): FoundCell {
  return texts.length === 0 ? { text: '' } : { text: joinRun(texts).text, bbox: around(texts) };
}
