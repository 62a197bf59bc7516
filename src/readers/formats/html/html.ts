import type { Block } from '../../blocks/block.js';
import { decodeText } from '../../encoding/decode-text.js';
import type { ReadContext } from '../../parser.js';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import { createSignReader } from '../signs/sign-reader.js';
import { createHiddenCounter } from '../visibility/hidden-counter.js';
import { createHtmlReader } from './read-html.js';

/** Browsers look at the first 1,024 bytes for an encoding, but pages of old have it behind long comments. */
const PRESCAN_BYTES = 65_536;

/** Parses HTML into blocks: headings, paragraphs, lists and tables. Text that nobody sees is left out and named. */
export function* parseHtml(bytes: Uint8Array, context: ReadContext): Iterable<Block> {
  const { receipt } = context;
  receipt.setParser('html', '1');
  const hidden = createHiddenCounter(context);
  const signs = createSignReader(receipt);
  const html = createHtmlReader({ hidden, signs });
  html.write(decodeHtml(bytes, receipt));
  const { blocks, head } = html.end();
  receipt.setTitle(head.title);
  receipt.setLanguage(head.language);
  hidden.report();
  signs.report();
  yield* blocks;
}

/** Decodes HTML by its bytes first, then by the charset that it declares. */
export function decodeHtml(bytes: Uint8Array, receipt?: ReceiptWriter): string {
  return decodeText(bytes, { declared: declaredInHtml(bytes), receipt });
}

/** The charset that HTML declares in itself; undefined for none. */
export function declaredInHtml(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, PRESCAN_BYTES)).toString('latin1');
  return (
    attributeOf(start, '<meta', /charset\s*=[\s"']*([\w:.-]+)/i) ??
    attributeOf(start, '<?xml', /encoding\s*=\s*["']([\w:.-]+)/i)
  );
}

/** Returns the capture of `pattern` in the first matching tag of that name. It goes tag by tag, so that each is read once. */
function attributeOf(markup: string, name: string, pattern: RegExp): string | undefined {
  const folded = markup.toLowerCase();
  let end = 0;
  for (let at = folded.indexOf(name); at !== -1; at = folded.indexOf(name, end)) {
    const close = markup.indexOf('>', at);
    end = close === -1 ? markup.length : close;
    const value = pattern.exec(markup.slice(at, end))?.[1];
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Collects the readable text of markup that is written in pieces, tables as lines of cells. */
export function createHtmlText(): { write(markup: string): void; end(): string } {
  const reader = createHtmlReader({ hasTables: false });
  return {
    write: (markup) => reader.write(markup),
    end: () =>
      reader
        .end()
        .blocks.map(({ text }) => text)
        .join('')
        .trimEnd(),
  };
}
