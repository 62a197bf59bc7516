<<<<<<< HEAD
<<<<<<< HEAD
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
=======
import type { FileFormat } from '../../src/shared/documents/file-types/formats.js';
import { DEFAULT_READ_OPTIONS, type ReadOptions } from '../../src/shared/extraction/read-options.js';
=======
import type { FileFormat } from '../../src/shared/documents/file-types/formats.js';
import { DEFAULT_READ_OPTIONS, type HiddenText } from '../../src/shared/extraction/read-options.js';
>>>>>>> 992bcf9c3bafab18c777dd7ee991272381751030
import type { Block } from '../../src/workers/parse/extraction/block.js';
import { createReceiptWriter, type Findings } from '../../src/workers/parse/extraction/receipt-writer.js';
import { loadParser } from '../../src/workers/parse/formats/parsers.js';

<<<<<<< HEAD
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
>>>>>>> 1800eae4c4803a75323b7e26a6e6ed5104102a9f
=======
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
>>>>>>> 992bcf9c3bafab18c777dd7ee991272381751030
}
