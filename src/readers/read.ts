import type { Block } from './blocks/block.js';
import { factsOf, type FileFormat } from './detection/formats.js';
import type { renderPage as render } from './formats/pages/render-page.js';
import { createHiddenCounter, type HiddenCounter } from './formats/visibility/hidden-counter.js';
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
  const { renderPage: renderNow } = await import('./formats/pages/render-page.js');
  return await renderNow(file, page, boxes);
};

/** Most texts hold neither half of a tag nor two selectors in a row. */
const MAY_HOLD = /\udb40|[\ufe00-\ufe0f]{2}/;
/**
 * The flag of a region, which tags spell behind a black flag. Then characters that belong to nothing visible: other tags,
 * and variation selectors behind a first one. Models read in both what people do not see.
 * @see Unicode Technical Standard 51, emoji tag sequences; The Unicode Standard, 23.4 Variation Selectors
 */
const FLAG_OR_UNSEEN =
  /(\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{1,6}\u{e007f})|[\u{e0000}-\u{e007f}]+|(?<=[\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+/gu;

/** The block without characters that no font shows, unless hidden text is read. */
function withoutUnseen(block: Block, hidden: HiddenCounter): Block {
  const { text, row } = block;
  if (!MAY_HOLD.test(text) && !(row && MAY_HOLD.test(row.header))) return block;
  const shown = text.replace(FLAG_OR_UNSEEN, (found: string, flag: string | undefined) =>
    flag !== undefined || hidden.accepts('shapeless', { text: found }) ? found : '',
  );
  if (shown === text && !row) return block;
  // Text that names the columns was counted where it stands.
  const isLeftOut = row !== undefined && !hidden.isRead;
  const header = isLeftOut ? row.header.replace(FLAG_OR_UNSEEN, '$1') : row?.header;
  return { ...block, text: shown, ...(header !== undefined && { row: { header } }) };
}
