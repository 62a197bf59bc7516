import { DEFAULT_READ_OPTIONS, type ReadOptions } from '../../src/shared/extraction/read-options.js';
import type { Block } from '../../src/workers/parse/extraction/block.js';
import { createReceiptWriter, type Findings } from '../../src/workers/parse/extraction/receipt-writer.js';
import type { Parser } from '../../src/workers/parse/formats/parser.js';

export interface ReadFile {
  readonly blocks: readonly Block[];
  readonly text: string;
  readonly findings: Findings;
}

/** What a parser yields of a file, and what it takes down. */
export async function readBlocks(
  parse: Parser,
  bytes: Uint8Array,
  { avoidsNativeCode, ...options }: Partial<ReadOptions> & { avoidsNativeCode?: boolean } = {},
): Promise<ReadFile> {
  const receipt = createReceiptWriter();
  const blocks: Block[] = [];
  const context = {
    filename: null,
    options: Object.assign({}, DEFAULT_READ_OPTIONS, options),
    receipt,
    avoidsNativeCode,
  };
  for await (const block of parse(bytes, context)) blocks.push(block);
  return { blocks, text: blocks.map(({ text }) => text).join(''), findings: receipt.findings() };
}
