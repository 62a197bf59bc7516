import { ReadError } from '../../../read-error.js';

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
export function decompressRtf(bytes: Uint8Array): Buffer {
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
