import { firstGroup } from '../../blocks/matches.js';
import { z } from 'zod';
import type { Block } from '../../blocks/block.js';
import { decodeText } from '../../encoding/decode-text.js';
import type { ReadContext } from '../../parser.js';
import { ReadError } from '../../read-error.js';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';

/** Reads a notebook of Jupyter: its cells in order, and their output as text. */
export function* parseNotebook(bytes: Uint8Array, context: ReadContext): Iterable<Block> {
  const { receipt } = context;
  receipt.setParser('notebook', '1');
  const notebook = readNotebook(decodeText(bytes, { receipt, hasKnownFiles: true }));
  const language = languageOf(notebook);
  if (notebook.metadata?.title) receipt.setTitle(notebook.metadata.title);
  for (const cell of notebook.cells ?? (notebook.worksheets ?? []).flatMap(({ cells }) => cells))
    yield* cellBlocks(cell, { language, context });
}

function readNotebook(text: string): Notebook {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ReadError('corrupt', 'The notebook is not valid JSON.', { cause });
  }
  const { success, data } = notebookSchema.safeParse(value);
  if (!success || (!data.cells && !data.worksheets))
    throw new ReadError('corrupt', 'The file is JSON, but no notebook: it has no list of cells.');
  return data;
}

const languageOf = ({ metadata }: Notebook): string =>
  metadata?.kernelspec?.language ?? metadata?.language_info?.name ?? '';

interface CellOptions {
  readonly language: string;
  readonly context: ReadContext;
}

function* cellBlocks(cell: Cell, { language, context }: CellOptions): Iterable<Block> {
  const source = cell.source ?? cell.input;
  switch (cell.cell_type) {
    case 'heading':
      yield { text: `${source.trim()}\n\n`, heading: Math.min(Math.max(cell.level ?? 1, 1), 6) };
      return;
    case 'markdown':
    case 'html':
      if (cell.attachments)
        context.receipt.addGap('skipped', 'A picture that is attached to a cell is not read.');
      yield* markdownBlocks(source);
      return;
    case 'code':
      if (source.trim() !== '') yield fenced(source, cell.language ?? language);
      for (const text of outputTexts(cell.outputs ?? [], context.receipt)) yield fenced(text, '');
      return;
    default:
      if (source.trim() !== '') yield { text: `${source.trim()}\n\n` };
  }
}

/** The text between two fences that are longer than any within it. */
function fenced(text: string, language: string): Block {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return { text: `${fence}${language}\n${text.trimEnd()}\n${fence}\n\n` };
}

/** Divides Markdown at its headings, which keep their marks. Lines of code are no headings. */
function* markdownBlocks(markdown: string): Iterable<Block> {
  let paragraph: string[] = [];
  let fence = '';
  for (const line of markdown.trim().split(/\r\n|\n|\r/)) {
    const mark = firstGroup(/^ {0,3}(`{3,}|~{3,})/, line);
    if (fence === '') fence = mark;
    else if (mark.startsWith(fence)) fence = '';
    const level = fence === '' ? /^ {0,3}(#{1,6})\s/.exec(line)?.[1]?.length : undefined;
    if (level === undefined) {
      paragraph.push(line);
      continue;
    }
    yield* block(paragraph);
    paragraph = [];
    yield { text: `${line.trim()}\n\n`, heading: level };
  }
  yield* block(paragraph);
}

function* block(lines: readonly string[]): Iterable<Block> {
  const text = lines.join('\n').trim();
  if (text !== '') yield { text: `${text}\n\n` };
}

/** Colours and other controls of terminals. */
const TERMINAL = /\u001b\[[\d;?]*[A-Za-z]/g;
/** The text that Python shows for an object without a text, such as a figure. */
const NAMELESS = /^<[\w. ]{1,200}(?: at 0x[\da-f]{1,32}| size \d{1,9}x\d{1,9} with \d{1,9} Axes)>$/i;

/** The texts that a cell has put out. A picture without a text is a gap. */
function* outputTexts(outputs: readonly Output[], receipt: ReceiptWriter): Iterable<string> {
  for (const output of outputs) {
    const text = plain(textOf(output));
    if (text !== '' && !NAMELESS.test(text)) yield text;
    else if (isPicture(output)) receipt.addGap('skipped', 'A picture that a cell has put out is not read.');
  }
}

function textOf({ text, data, ename, evalue }: Output): string {
  if (ename !== undefined) return `${ename}: ${evalue}`;
  const { success, data: written } = textSchema.safeParse(data?.['text/plain']);
  return success ? written : text;
}

/** Cleans the text of an output. A line that a progress bar has rewritten again and again keeps its last content. */
const plain = (text: string): string =>
  text
    .replace(TERMINAL, '')
    .replace(/\r\n/g, '\n')
    .split('\n')
    .map((line) => line.slice(line.trimEnd().lastIndexOf('\r') + 1).trimEnd())
    .join('\n')
    .trim();

const isPicture = ({ data, png, jpeg }: Output): boolean =>
  png !== undefined ||
  jpeg !== undefined ||
  Object.keys(data ?? {}).some((type) => type.startsWith('image/'));

/** Text is a string, or a list of lines with their ends. */
const textSchema = z
  .union([z.string(), z.array(z.string())])
  .transform((lines) => (typeof lines === 'string' ? lines : lines.join('')));
const optionalText = textSchema.optional().catch(undefined);
const textOrNone = textSchema.catch('');
const optionalName = z.string().optional().catch(undefined);

const outputSchema = z.object({
  output_type: z.string().catch(''),
  text: textOrNone,
  data: z.record(z.string(), z.unknown()).optional().catch(undefined),
  ename: optionalName,
  evalue: z.string().catch(''),
  /** Pictures of notebooks until version 3. */
  png: z.unknown().optional(),
  jpeg: z.unknown().optional(),
});

const cellSchema = z.object({
  cell_type: z.string().catch('raw'),
  source: optionalText,
  /** The source of code until version 3 of the format. */
  input: textOrNone,
  language: optionalName,
  level: z.int().optional().catch(undefined),
  attachments: z.record(z.string(), z.unknown()).optional().catch(undefined),
  outputs: z
    .array(outputSchema.catch({ output_type: '', text: '', evalue: '' }))
    .optional()
    .catch(undefined),
});

const cellsSchema = z.array(cellSchema);

/** A notebook in version 4 of its format (nbformat), or in version 3, which has its cells in worksheets. */
const notebookSchema = z.object({
  metadata: z
    .object({
      title: optionalName,
      kernelspec: z.object({ language: optionalName }).optional().catch(undefined),
      language_info: z.object({ name: optionalName }).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  cells: cellsSchema.optional(),
  worksheets: z.array(z.object({ cells: cellsSchema })).optional(),
});

type Notebook = z.infer<typeof notebookSchema>;
type Cell = z.infer<typeof cellSchema>;
type Output = z.infer<typeof outputSchema>;
