import type { FileFormat } from '../../src/shared/documents/file-types/formats.js';
import { DEFAULT_READ_OPTIONS, type ReadOptions } from '../../src/shared/extraction/read-options.js';
import type { Block } from '../../src/workers/parse/extraction/block.js';
import { createReceiptWriter, type Findings } from '../../src/workers/parse/extraction/receipt-writer.js';
import { loadParser } from '../../src/workers/parse/formats/parsers.js';

interface ReadBlocksOptions extends Partial<ReadOptions> {
  readonly filename?: string;
}

interface ReadFile {
  readonly blocks: readonly Block[];
  /** The texts of all blocks. */
  readonly text: string;
  readonly findings: Findings;
}

/** Reads a file with the parser of its format in this process. */
export async function readBlocks(
  content: string | Uint8Array,
  format: FileFormat,
  { filename, ...options }: ReadBlocksOptions = {},
): Promise<ReadFile> {
  const receipt = createReceiptWriter();
  const parse = await loadParser(format);
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const blocks: Block[] = [];
  const context = {
    filename: filename ?? null,
    options: { ...DEFAULT_READ_OPTIONS, ...options },
    receipt,
  };
  for await (const block of parse(bytes, context)) blocks.push(block);
  return { blocks, text: blocks.map(({ text }) => text).join(''), findings: receipt.findings() };
}
