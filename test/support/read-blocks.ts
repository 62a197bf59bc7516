import { DEFAULT_READ_OPTIONS, type ReadOptions } from '../../src/shared/extraction/read-options.js';
import type { Block } from '../../src/workers/parse/extraction/block.js';
import { createReceiptWriter, type Findings } from '../../src/workers/parse/extraction/receipt-writer.js';
import type { Parser } from '../../src/workers/parse/formats/parser.js';

export interface ReadFile {
  readonly blocks: readonly Block[];
  readonly text: string;
  readonly findings: Findings;
  /** The sentences of all gaps. */
  readonly gaps: readonly string[];
}

/** Reads a file with a parser in this process. */
export async function readBlocks(
  parse: Parser,
  bytes: Uint8Array,
  { filename = null, ...options }: Partial<ReadOptions> & { readonly filename?: string | null } = {},
): Promise<ReadFile> {
  const receipt = createReceiptWriter();
  const blocks: Block[] = [];
  const context = { filename, options: { ...DEFAULT_READ_OPTIONS, ...options }, receipt };
  for await (const block of parse(bytes, context)) blocks.push(block);
  const findings = receipt.findings();
  return {
    blocks,
    text: blocks.map(({ text }) => text).join(''),
    findings,
    gaps: findings.gaps.map(({ reason, detail }) => `${reason}: ${detail}`),
  };
}
