import { deEncapsulateSync } from 'rtf-stream-parser';
import type { MailBody } from '../message.js';
import { decodeAs } from '../../../encoding/decode-as.js';
import { encodingOf } from '../../../encoding/labels.js';
import { rtfTokens } from '../../rtf/tokens.js';
import { decompressRtf } from './decompress-rtf.js';

/** In deeper groups the library looks each property up through all groups around it. Such deep groups are read as RTF. */
const MAX_GROUP_DEPTH = 100;

/** The RTF of a message of Outlook, or the text or HTML that Outlook has wrapped into it ([MS-OXRTFEX]). */
export function rtfBody(compressed: Uint8Array): MailBody {
  const rtf = decompressRtf(compressed);
  if (!rtf.toString('latin1', 0, 64).trimStart().startsWith('{\\rtf')) return { kind: 'none' };
  if (!/\\from(?:text|html)/.test(rtf.toString('latin1', 0, 4096))) return { kind: 'rtf', rtf };
  const unwrapped = isDeep(rtf) ? undefined : unwrap(rtf);
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

function isDeep(rtf: Buffer): boolean {
  let depth = 0;
  for (const { kind } of rtfTokens(rtf)) {
    if (kind === 'open') depth += 1;
    else if (kind === 'close') depth -= 1;
    if (depth > MAX_GROUP_DEPTH) return true;
  }
  return false;
}
