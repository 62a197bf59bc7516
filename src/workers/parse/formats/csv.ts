import { CsvError, parse } from 'csv-parse';
import { z } from 'zod';
import { at } from '../../../shared/at.js';
import type { Block } from '../extraction/block.js';
import { decodeText } from './decode-text.js';

const DELIMITERS = [',', ';', '\t', '|'] as const;
const MAX_HEADING_LENGTH = 64;
const ROWS_AT_ONCE = 256;
const entrySchema = z.object({ record: z.array(z.string()), info: z.object({ bytes: z.number() }) });

/** Parses CSV. Each row becomes a line, with the column's name before each value if the first row contains names. */
export async function* parseCsv(bytes: Uint8Array): AsyncIterable<Block> {
  const text = decodeText(bytes).replace(/^\ufeff/, '');
  const parser = parse({
    delimiter: likelyDelimiter(text),
    relaxColumnCount: true,
    relaxQuotes: true,
    skipEmptyLines: true,
    trim: true,
    info: true,
    onRecord(record) {
      // The length of each record becomes the expected one of the next. Otherwise csv-parse makes a costly error of each
      // record that is shorter or longer than the first one, although such records are allowed.
      Object.assign(parser.info, { records: 0 });
      return record;
    },
  });
  parser.end(text);
  const rows = createRows();
  let bytesRead = 0;
  try {
    for await (const entry of parser) {
      const { record, info } = entrySchema.parse(entry);
      rows.add(record);
      bytesRead = info.bytes;
      if (rows.lines.length >= ROWS_AT_ONCE) yield { text: `${rows.lines.splice(0).join('\n')}\n` };
    }
    yield { text: rows.lines.join('\n') };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // A quote is never closed: everything after the last complete row is read as plain text.
    const rest = Buffer.from(text).subarray(bytesRead).toString('utf8');
    yield { text: `${rows.lines.join('\n')}\n${rest}` };
  }
}

/** Converts records to lines. The first record decides whether columns have names. */
function createRows() {
  const lines: string[] = [];
  let headings: readonly string[] | undefined;
  let isFirst = true;
  return {
    lines,
    add(row: readonly string[]): void {
      if (isFirst && areHeadings(row)) {
        headings = row;
        lines.push(row.join(', '), '');
      } else lines.push(rowText(row, headings));
      isFirst = false;
    },
  };
}

/** Returns the delimiter that occurs most often and most evenly in the first lines. */
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
  return at(DELIMITERS, scores.indexOf(Math.max(...scores)));
}

function areHeadings(row: readonly string[]): boolean {
  const isNamed = (cell: string): boolean =>
    cell !== '' && cell.length <= MAX_HEADING_LENGTH && !/^[-+.,\d\s%$€£:/]+$/.test(cell);
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
