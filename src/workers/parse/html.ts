import { decodeText } from './decode-text.js';
import { createHtmlText } from './html-text.js';

const PRESCAN_BYTES = 4096;

/** HTML: its readable text, decoded by its bytes first and its own word about its charset second. */
export function* parseHtml(bytes: Uint8Array): Iterable<string> {
  const start = Buffer.from(bytes.subarray(0, PRESCAN_BYTES)).toString('latin1');
  const charset =
    /<meta[^>]+charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(start)?.[1] ??
    /<\?xml[^>]+encoding\s*=\s*["']([\w:.-]+)/i.exec(start)?.[1];
  const html = createHtmlText();
  html.write(decodeText(bytes, charset));
  yield html.end();
}
