import type { Block } from '../extraction/block.js';
import { decodeText } from './decode-text.js';
import { createHtmlText } from './html-text.js';

const PRESCAN_BYTES = 4096;

/** Parses HTML into its readable text. The encoding is detected from the bytes first, then taken from the declared charset. */
export function* parseHtml(bytes: Uint8Array): Iterable<Block> {
  const start = Buffer.from(bytes.subarray(0, PRESCAN_BYTES)).toString('latin1');
  const charset =
    attributeOf(start, '<meta', /charset\s*=[\s"']*([\w:.-]+)/i) ??
    attributeOf(start, '<?xml', /encoding\s*=\s*["']([\w:.-]+)/i);
  const html = createHtmlText();
  html.write(decodeText(bytes, charset));
  yield { text: html.end() };
}

/** Returns what `pattern` captures in the first matching tag of that name. It goes tag by tag, so that each is read once. */
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
