import { deEncapsulateSync } from 'rtf-stream-parser';
import type { MailBody } from '../message.js';
import { decodeAs } from '../../../../../shared/encoding/decode-as.js';
import { encodingOf } from '../../../../../shared/encoding/labels.js';
import { decompressRtf } from './decompress-rtf.js';

/** The RTF of a message of Outlook, or the text or HTML that Outlook has wrapped into it ([MS-OXRTFEX]). */
export function rtfBody(compressed: Uint8Array): MailBody {
  const rtf = decompressRtf(compressed);
  if (!rtf.toString('latin1', 0, 64).trimStart().startsWith('{\\rtf')) return { kind: 'none' };
  if (!/\\from(?:text|html)/.test(rtf.toString('latin1', 0, 4096))) return { kind: 'rtf', rtf };
  const unwrapped = unwrap(rtf);
  if (!unwrapped) return { kind: 'rtf', rtf };
  const { mode, text } = unwrapped;
  const written = text.toString();
  return mode === 'html' ? { kind: 'html', html: written } : { kind: 'text', text: written };
}

/** Undefined where it is not wrapped as it says. */
function unwrap(rtf: Buffer): ReturnType<typeof deEncapsulateSync> | undefined {
  try {
    const decode = (bytes: Buffer, page: string): string =>
      decodeAs(bytes, encodingOf(page) ?? 'windows-1252');
    return deEncapsulateSync(rtf, { decode, mode: 'either', warn: () => undefined });
  } catch {
    return undefined;
  }
}
