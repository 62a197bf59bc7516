import { parse } from 'csv-parse';
import { decodeText } from './decode-text.js';

const DELIMITERS = [',', ';', '\t', '|'] as const;
const LONGEST_HEADING = 64;
const ROWS_AT_ONCE = 256;

/** CSV: one line a row, each value behind its column's name where the first row holds names. */
export async function* parseCsv(bytes: Uint8Array): AsyncIterable<string> {
  const text = decodeText(bytes).replace(/^\ufeff/, '');
  const parser = parse({
    delimiter: likelyDelimiter(text),
    relaxColumnCount: true,
    relaxQuotes: true,
    skipEmptyLines: true,
    skipRecordsWithError: true,
    trim: true,
  });
  parser.end(text);
  let headings: readonly string[] | undefined;
  let lines: string[] = [];
  let isFirst = true;
  for await (const record of parser) {
    const row = Array.isArray(record) ? record.map(String) : [];
    if (isFirst && areHeadings(row)) headings = row;
    else lines.push(rowText(row, headings));
    if (isFirst && headings) lines.push(headings.join(', '), '');
    isFirst = false;
    if (lines.length >= ROWS_AT_ONCE) {
      yield `${lines.join('\n')}\n`;
      lines = [];
    }
  }
  yield lines.join('\n');
}

/** The candidate that the first lines hold most often and most evenly. */
function likelyDelimiter(text: string): string {
  const lines = text
    .slice(0, 16_384)
    .split(/\r\n|\n|\r/)
    .slice(0, 20)
    .filter((line) => line.trim() !== '');
  const scores = DELIMITERS.map((delimiter) => {
    const counts = lines.map((line) => line.split(delimiter).length - 1);
    return Math.min(...counts) * 1000 + counts.reduce((sum, count) => sum + count, 0);
  });
  return DELIMITERS[scores.indexOf(Math.max(...scores))] ?? ',';
}

function areHeadings(row: readonly string[]): boolean {
  const isNamed = (cell: string): boolean =>
    cell !== '' && cell.length <= LONGEST_HEADING && !/^[-+.,\d\s%$€£:/]+$/.test(cell);
  return row.length > 1 && row.every(isNamed) && new Set(row).size === row.length;
}

function rowText(row: readonly string[], headings: readonly string[] | undefined): string {
  const cells = row.map((cell) => cell.replace(/\s+/g, ' '));
  if (!headings) return cells.filter((cell) => cell !== '').join(', ');
  const named = cells.map((cell, index) => {
    const heading = headings[index];
    return cell === '' || heading === undefined ? cell : `${heading}: ${cell}`;
  });
  return named.filter((cell) => cell !== '').join('; ');
}
