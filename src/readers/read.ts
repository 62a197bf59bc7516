import type { Block } from './blocks/block.js';
import { withoutUnseen } from './blocks/unseen-characters.js';
import { factsOf, type FileFormat } from './detection/formats.js';
import type { renderPage as render } from './formats/pdf/render-page.js';
import { createHiddenCounter } from './formats/visibility/hidden-counter.js';
import type { ReadContext } from './parser.js';
import { loadParser } from './parsers.js';
import { ReadError } from './read-error.js';

/**
 * Reads a file into blocks in reading order, without characters that no font shows. Text that was left out because nobody
 * sees it is in the receipt when the last block is taken, or when no more are asked for.
 * @throws ReadError when it can never be read; the blocks before may be right
 */
export async function* read(
  bytes: Uint8Array,
  format: FileFormat,
  context: ReadContext,
): AsyncGenerator<Block, void, undefined> {
  if (bytes.length === 0 || (factsOf(format).isEmptyWhenBlank && isBlank(bytes)))
    throw new ReadError('empty_document', 'The document is empty.');
  const parse = await loadParser(format);
  const hidden = createHiddenCounter(context);
  try {
    for await (const block of parse(bytes, context)) yield withoutUnseen(block, hidden);
  } finally {
    hidden.report();
  }
}

/** Tells whether a file holds only blanks, line ends, zeros and byte order marks, in any encoding. */
function isBlank(bytes: Uint8Array): boolean {
  return (
    bytes.every((byte) => byte <= 0x20 || byte >= 0xfe || byte === 0xef || byte === 0xbb || byte === 0xbf) &&
    Buffer.from(bytes)
      .toString('latin1')
      .replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '')
      .replace(/[\0\s]/g, '') === ''
  );
}

/** Renders a page as the renderer does, whose code is loaded when it is first needed. @throws ReadError when it cannot */
export const renderPage: typeof render = async (file, page, boxes) => {
  const { renderPage: renderNow } = await import('./formats/pdf/render-page.js');
  return await renderNow(file, page, boxes);
};
