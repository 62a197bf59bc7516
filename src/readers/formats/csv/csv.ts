import { CsvError, parse, type Parser as CsvParser } from 'csv-parse';
import type { Block } from '../../blocks/block.js';
import { decodeText } from '../../encoding/decode-text.js';
import type { ReadContext } from '../../parser.js';
import { looksLikeHeader } from '../tables/header-rows.js';
import { createTableWriter, type TableWriter } from '../tables/table-blocks.js';

const DELIMITERS = [',', ';', '\t', '|'] as const;

/** The line that tells Excel the delimiter. It is no row. */
const SEPARATOR_LINE = /^("?)sep=([^\r\n"])\1[ \t,;]*(?:\r\n|\n|\r|$)/i;

/** Parses CSV into a table. The first row names the columns if it looks so, and `place.row` counts all rows from 1. */
export async function* parseCsv(bytes: Uint8Array, { receipt }: ReadContext): AsyncIterable<Block> {
  receipt.setParser('csv', '1');
  const whole = decodeText(bytes, { receipt }).replace(/^\ufeff/, '');
  const [line = '', , named] = SEPARATOR_LINE.exec(whole) ?? [];
  const text = whole.slice(line.length);
  const { parser, bytesRead } = createRecordParser(text, named ?? likelyDelimiter(text));
  let table: TableWriter | undefined;
  let row = 0;
  const add = (record: readonly string[]): readonly Block[] => {
    table ??= createTableWriter({ headerRows: looksLikeHeader(record) ? 1 : 0 });
    row += 1;
    return table.add({ cells: record, place: { row } });
  };
  parser.write(text);
  for (let record = read(parser); isRecord(record); record = read(parser)) yield* add(record);
  try {
    parser.end();
    const rest: AsyncIterable<unknown> = parser;
    for await (const record of rest) if (isRecord(record)) yield* add(record);
    yield* table?.end() ?? [];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // A quote is never closed: everything after the last complete row is read as plain text.
    const rest = Buffer.from(text).subarray(bytesRead()).toString('utf8');
    receipt.addGap('unreadable', 'A quote is not closed, so that the rows behind it are read as plain text.');
    yield* table?.end() ?? [];
    yield { text: rest, place: { row: row + 1 } };
  }
}

/** `bytesRead` is where the last complete record ends. */
function createRecordParser(text: string, delimiter: string): { parser: CsvParser; bytesRead: () => number } {
  const parser = parse({
    delimiter,
    escape: likelyEscape(text),
    relaxColumnCount: true,
    relaxQuotes: true,
    skipEmptyLines: true,
    trim: true,
  });
  let bytesRead = 0;
  // csv-parse counts each record when it is complete. Options that tell as much (`info`, `onRecord`) make objects for each.
  // The length of the first record is expected of all. Each record is taken for the first one here, since csv-parse makes a
  // costly error of any that is shorter or longer, although such records are allowed.
  Object.defineProperty(parser.info, 'records', {
    get: () => 0,
    set: () => {
      bytesRead = parser.info.bytes;
    },
  });
  return { parser, bytesRead: () => bytesRead };
}

const read = (parser: CsvParser): unknown => parser.read();

/** csv-parse does not tell the type of its records, which are lists of fields. */
const isRecord = (record: unknown): record is string[] => Array.isArray(record);

/** A quote within a field, as databases and scripts write it, and as the others do. A backslash may also end a field. */
const BACKSLASHED = /\\"[^,;\t|\r\n]/;
const DOUBLED = /[^,;\t|\r\n"]""[^,;\t|\r\n"]/;

const likelyEscape = (text: string): string => (BACKSLASHED.test(text) && !DOUBLED.test(text) ? '\\' : '"');

/** Returns the delimiter that occurs most often and most evenly in the first lines. */
function likelyDelimiter(text: string): string {
  const lines = text
    .slice(0, 16_384)
    .split(/\r\n|\n|\r/)
    .slice(0, 20)
    .filter((line) => line.trim() !== '');
  const scored = DELIMITERS.map((delimiter) => {
    const counts = lines.map((line) => line.split(delimiter).length - 1);
    return { delimiter, score: Math.min(...counts) * 1000 + counts.reduce((sum, count) => sum + count, 0) };
  });
  return scored.reduce((best, next) => (next.score > best.score ? next : best)).delimiter;
}
