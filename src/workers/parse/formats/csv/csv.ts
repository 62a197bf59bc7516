import { CsvError, parse } from 'csv-parse';
import { z } from 'zod';
import { at } from '../../../../shared/at.js';
import type { Block } from '../../extraction/block.js';
import { decodeText } from '../decode-text.js';
import type { ParseContext } from '../parser.js';
import { createTableWriter, type TableWriter } from '../table.js';

const DELIMITERS = [',', ';', '\t', '|'] as const;
const entrySchema = z.object({ record: z.array(z.string()), info: z.object({ bytes: z.number() }) });

/** Parses CSV into a table. The first row names the columns if it looks so, and `place.row` counts all rows from 1. */
export async function* parseCsv(bytes: Uint8Array, { receipt }: ParseContext): AsyncIterable<Block> {
  receipt.setParser('csv', '1');
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
  let table: TableWriter | undefined;
  let bytesRead = 0;
  let row = 0;
  try {
    for await (const entry of parser) {
      const { record, info } = entrySchema.parse(entry);
      table ??= createTableWriter({ headerRows: areHeadings(record) ? 1 : 0 });
      row += 1;
      yield* table.add({ cells: record, place: { row } });
      bytesRead = info.bytes;
    }
    yield* table?.end() ?? [];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // A quote is never closed: everything after the last complete row is read as plain text.
    const rest = Buffer.from(text).subarray(bytesRead).toString('utf8');
    receipt.addGap('garbled', 'A quote is not closed, so that the rows behind it are read as plain text.');
    yield* table?.end() ?? [];
    yield { text: rest, place: { row: row + 1 } };
  }
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

const MAX_HEADING_LENGTH = 64;

function areHeadings(row: readonly string[]): boolean {
  const isNamed = (cell: string): boolean =>
    cell !== '' && cell.length <= MAX_HEADING_LENGTH && !/^[-+.,\d\s%$€£:/]+$/.test(cell);
  return row.length > 1 && row.every(isNamed) && new Set(row).size === row.length;
}
