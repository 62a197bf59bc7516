import { deEncapsulateSync } from 'rtf-stream-parser';
import { decodeAs } from '../../../encoding/decode-as.js';
import { encodingOf } from '../../../encoding/labels.js';
import { ReadError } from '../../../read-error.js';
import { rtfTokens } from '../../rtf/tokens.js';
import type { MailBody } from '../message.js';

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

const HEADER_BYTES = 16;
const COMPRESSED = 0x75465a4c;
const UNCOMPRESSED = 0x414c454d;
const WINDOW = 4096;
/** The first content of the window. */
const DICTIONARY = Buffer.from(
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript ' +
    '\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n' +
    '\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx',
  'latin1',
);

/** Decompresses the RTF of a message of Outlook ([MS-OXRTFCP]). The size in its header is a limit. */
function decompressRtf(bytes: Uint8Array): Buffer {
  const input = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (input.length < HEADER_BYTES) throw damaged();
  const size = input.readUInt32LE(4);
  const kind = input.readUInt32LE(8);
  if (kind === UNCOMPRESSED) return input.subarray(HEADER_BYTES, HEADER_BYTES + size);
  // One byte in seventeen tells the kinds of the others, and two bytes stand for at most seventeen.
  if (kind !== COMPRESSED || size > input.length * 9) throw damaged();
  return inflate(input, size);
}

function inflate(input: Buffer, size: number): Buffer {
  const output = Buffer.alloc(DICTIONARY.length + size);
  DICTIONARY.copy(output);
  let from = HEADER_BYTES;
  let to = DICTIONARY.length;
  while (from < input.length && to < output.length) {
    const control = input[from] ?? 0;
    from += 1;
    for (let bit = 0; bit < 8 && from < input.length && to < output.length; bit += 1) {
      if ((control & (1 << bit)) === 0) {
        output[to] = input[from] ?? 0;
        from += 1;
        to += 1;
        continue;
      }
      if (from + 1 >= input.length) return output.subarray(DICTIONARY.length, to);
      const reference = input.readUInt16BE(from);
      from += 2;
      const source = sourceOf(reference >> 4, to);
      if (source === to) return output.subarray(DICTIONARY.length, to);
      const end = Math.min(to + (reference & 15) + 2, output.length);
      for (let at = source; to < end; at += 1, to += 1) output[to] = output[at] ?? 0;
    }
  }
  return output.subarray(DICTIONARY.length, to);
}

/** Returns the place in the output where a place of the window was written last. */
function sourceOf(place: number, to: number): number {
  const source = to - (to % WINDOW) + place;
  return source > to ? Math.max(0, source - WINDOW) : source;
}

const damaged = () => new ReadError('corrupt', 'The RTF text of the Outlook message is damaged.');
