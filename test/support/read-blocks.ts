import type { FileFormat } from '../../src/readers/detection/formats.js';
import { DEFAULT_READ_OPTIONS, type ReadOptions } from '../../src/readers/read-options.js';
import type { Block } from '../../src/readers/blocks/block.js';
import { createReceiptWriter, type Findings } from '../../src/readers/receipt/receipt-writer.js';
import type { Parser } from '../../src/readers/parser.js';
import { loadParser } from '../../src/readers/parsers.js';

export interface ReadFile {
  readonly blocks: readonly Block[];
  /** All texts joined. */
  readonly text: string;
  readonly receipt: Findings;
  /** The reasons and sentences of all gaps. */
  readonly gaps: readonly string[];
}

interface ReadBlocksOptions extends Partial<ReadOptions> {
  readonly filename?: string | null;
  readonly avoidsNativeCode?: boolean;
}

/** Reads a file with a parser, or the parser of a format, in this process. */
export async function readBlocks(
  reader: FileFormat | Parser,
  content: string | Uint8Array,
  { filename = null, avoidsNativeCode, ...options }: ReadBlocksOptions = {},
): Promise<ReadFile> {
  const parse = typeof reader === 'string' ? await loadParser(reader) : reader;
  const receipt = createReceiptWriter();
  const blocks: Block[] = [];
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const context = { filename, options: { ...DEFAULT_READ_OPTIONS, ...options }, receipt, avoidsNativeCode };
  for await (const block of parse(bytes, context)) blocks.push(block);
  const findings = receipt.findings();
  return {
    blocks,
    text: blocks.map(({ text }) => text).join(''),
    receipt: findings,
    gaps: findings.gaps.map(({ reason, detail }) => `${reason}: ${detail}`),
  };
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
