const MAX_NAME_LENGTH = 80;
/** The writing of numbers, amounts, dates and times. */
const NUMERIC = /^[-+.,\d\s%$€£:/()]+$/;
const YEAR = /^(?:1[89]|2[01])\d\d$/;

/** Tells whether a row may hold the names of columns: several different short ones, and no numbers but years. */
export function looksLikeHeader(row: readonly string[]): boolean {
  const cells = row.map((cell) => cell.trim()).filter((cell) => cell !== '');
  const years = cells.filter((cell) => YEAR.test(cell)).length;
  const isName = (cell: string): boolean => (years > 1 && YEAR.test(cell)) || !NUMERIC.test(cell);
  return (
    cells.length > 1 &&
    cells.length * 2 > row.length &&
    cells.every((cell) => cell.length <= MAX_NAME_LENGTH && isName(cell)) &&
    new Set(cells).size === cells.length
  );
}
