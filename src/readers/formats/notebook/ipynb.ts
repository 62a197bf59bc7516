import { ReadError } from '../../read-error.js';
import type { Block } from '../../blocks/block.js';
import { decodeText } from '../../encoding/decode-text.js';
import type { ReadContext } from '../../parser.js';
import { markdownBlocks } from './markdown-blocks.js';
import { notebookSchema, type Cell, type Notebook } from './notebook-schema.js';
import { outputTexts } from './output-texts.js';

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
  const source = cell.source ?? cell.input ?? '';
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
