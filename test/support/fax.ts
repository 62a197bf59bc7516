import type { Scan } from './scans.js';

// Codes of ITU-T T.4, tables 2 and 3: runs of 0 to 63 pixels, and of white in multiples of 64.
const WHITE =
  '00110101 000111 0111 1000 1011 1100 1110 1111 10011 10100 00111 01000 001000 000011 110100 110101 101010 101011 0100111 0001100 0001000 0010111 0000011 0000100 0101000 0101011 0010011 0100100 0011000 00000010 00000011 00011010 00011011 00010010 00010011 00010100 00010101 00010110 00010111 00101000 00101001 00101010 00101011 00101100 00101101 00000100 00000101 00001010 00001011 01010010 01010011 01010100 01010101 00100100 00100101 01011000 01011001 01011010 01011011 01001010 01001011 00110010 00110011 00110100'.split(
    ' ',
  );
const WIDE_WHITE =
  '11011 10010 010111 0110111 00110110 00110111 01100100 01100101 01101000 01100111 011001100 011001101 011010010 011010011 011010100 011010101 011010110 011010111 011011000 011011001 011011010 011011011 010011000 010011001 010011010 011000 010011011'.split(
    ' ',
  );
const BLACK =
  '0000110111 010 11 10 011 0011 0010 00011 000101 000100 0000100 0000101 0000111 00000100 00000111 000011000 0000010111 0000011000 0000001000 00001100111 00001101000 00001101100 00000110111 00000101000 00000010111 00000011000 000011001010 000011001011 000011001100 000011001101 000001101000 000001101001 000001101010 000001101011 000011010010 000011010011 000011010100 000011010101 000011010110 000011010111 000001101100 000001101101 000011011010 000011011011 000001010100 000001010101 000001010110 000001010111 000001100100 000001100101 000001010010 000001010011 000000100100 000000110111 000000111000 000000100111 000000101000 000001011000 000001011001 000000101011 000000101100 000001011010 000001100110 000001100111'.split(
    ' ',
  );
const VERTICAL = new Map([
  [-3, '0000010'],
  [-2, '000010'],
  [-1, '010'],
  [0, '1'],
  [1, '011'],
  [2, '000011'],
  [3, '0000011'],
]);
const LINE_END = '000000000001';

type Colour = 0 | 1;

function codeOf(run: number, colour: Colour): string {
  if (colour === 1 && run > 63) throw new Error('no code for so long a black run');
  if (colour === 1) return BLACK[run] ?? '';
  return (run >= 64 ? (WIDE_WHITE[(run >> 6) - 1] ?? '') : '') + (WHITE[run & 63] ?? '');
}

function packCodes(codes: string): Buffer {
  const bytes = Buffer.alloc(Math.ceil(codes.length / 8));
  for (let at = 0; at < codes.length; at += 1)
    if (codes[at] === '1') bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (0x80 >> (at & 7));
  return bytes;
}

const other = (colour: Colour): Colour => (colour === 0 ? 1 : 0);

function rowsOf({ width, height, grey }: Scan): Uint8Array[] {
  return Array.from({ length: height }, (_, y) =>
    grey.subarray(y * width, (y + 1) * width).map((shade) => (shade < 128 ? 1 : 0)),
  );
}

/** The end of the run of a colour that begins here. */
function endOfRun(row: Uint8Array, from: number, colour: Colour): number {
  const end = row.indexOf(other(colour), from);
  return end === -1 ? row.length : end;
}

/** Encodes a picture as Group 4 fax (T.6). */
export function encodeGroup4(scan: Scan): Buffer {
  let codes = '';
  let above: Uint8Array = new Uint8Array(scan.width);
  for (const row of rowsOf(scan)) {
    codes += group4Row(row, above);
    above = row;
  }
  return packCodes(codes + LINE_END + LINE_END);
}

function group4Row(row: Uint8Array, above: Uint8Array): string {
  let codes = '';
  let colour: Colour = 0;
  for (let at = -1; at < row.length;) {
    const start = Math.max(at, 0);
    const end = endOfRun(row, start, colour);
    const change = changeAbove(above, at, colour);
    const next = endOfRun(above, change, other(colour));
    const vertical = VERTICAL.get(end - change);
    if (next < end) {
      codes += '0001';
      at = next;
    } else if (vertical !== undefined) {
      codes += vertical;
      at = end;
      colour = other(colour);
    } else {
      const second = endOfRun(row, end, other(colour));
      codes += `001${codeOf(end - start, colour)}${codeOf(second - end, other(colour))}`;
      at = second;
    }
  }
  return codes;
}

/** The first pixel of the row above, after this place, at which the other colour begins. */
function changeAbove(above: Uint8Array, at: number, colour: Colour): number {
  for (let x = at + 1; x < above.length; x += 1)
    if (above[x] !== colour && (above[x - 1] ?? 0) === colour) return x;
  return above.length;
}

/** Encodes a picture as Group 3 fax of one dimension (T.4), each row begun with an end of line. */
export function encodeGroup3(scan: Scan): Buffer {
  let codes = '';
  for (const row of rowsOf(scan)) {
    codes += LINE_END;
    let colour: Colour = 0;
    for (let at = 0; at < row.length; colour = other(colour)) {
      const end = endOfRun(row, at, colour);
      codes += codeOf(end - at, colour);
      at = end;
    }
  }
  return packCodes(codes + LINE_END.repeat(6));
}
