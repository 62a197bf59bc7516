import type { FileFormat } from '../../src/shared/documents/file-types/formats.js';
import { DEFAULT_READ_OPTIONS, type HiddenText } from '../../src/shared/extraction/read-options.js';
import type { Block } from '../../src/workers/parse/extraction/block.js';
import { createReceiptWriter, type Findings } from '../../src/workers/parse/extraction/receipt-writer.js';
import { loadParser } from '../../src/workers/parse/formats/parsers.js';

export interface ReadFile {
  readonly blocks: readonly Block[];
  /** All texts joined. */
  readonly text: string;
  readonly receipt: Findings;
}

/** Reads a file with the parser of its format, in this process. */
export async function readBlocks(
  format: FileFormat,
  content: string | Uint8Array,
  { hiddenText = 'drop' }: { readonly hiddenText?: HiddenText } = {},
): Promise<ReadFile> {
  const parse = await loadParser(format);
  const receipt = createReceiptWriter();
  const blocks: Block[] = [];
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const options = { ...DEFAULT_READ_OPTIONS, hiddenText };
  for await (const block of parse(bytes, { filename: null, options, receipt })) blocks.push(block);
  return { blocks, text: blocks.map(({ text }) => text).join(''), receipt: receipt.findings() };
}

/** The cell of a Markdown table whose row begins with `row`, in the column that is named `column`. */
export function cellAt(table: string, row: string, column: string): string | undefined {
  const rows = table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.slice(2, -2).split(' | '));
  const index = rows.find((cells) => cells.includes(column))?.indexOf(column) ?? -1;
  return rows.find(([first]) => first === row)?.[index];
}
