import iconv from 'iconv-lite';
import { deEncapsulateSync } from 'rtf-stream-parser';
import type { MailBody } from './message.js';
import { decompressRtf } from './decompress-rtf.js';

/** The text or HTML that Outlook has wrapped into RTF ([MS-OXRTFEX]); RTF of its own is not read. */
export function rtfBody(compressed: Uint8Array): MailBody {
  const rtf = decompressRtf(compressed);
  if (!/\\from(?:text|html)/.test(rtf.toString('latin1', 0, 4096)))
    return { kind: 'unread', form: 'RTF of its own' };
  const { mode, text } = deEncapsulateSync(rtf, {
    decode: iconv.decode,
    mode: 'either',
    warn: () => undefined,
  });
  const written = text.toString();
  return mode === 'html' ? { kind: 'html', html: written } : { kind: 'text', text: written };
}
