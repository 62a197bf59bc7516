import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const CHANNELS = new Map([
  [0, 1],
  [2, 3],
  [6, 4],
]);

/** Pixels in rows from the top, with 1 (grey), 3 (RGB) or 4 (RGBA) bytes each. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly pixels: Uint8Array;
}

/** Decodes a PNG of 8 bits without interlacing, as renderers write it. @throws for any other */
export function decodePng(bytes: Uint8Array): Raster {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!file.subarray(0, 8).equals(SIGNATURE)) throw new Error('not a PNG');
  const width = file.readUInt32BE(16);
  const height = file.readUInt32BE(20);
  const channels = CHANNELS.get(file[25] ?? -1);
  if (file[24] !== 8 || file[28] !== 0 || channels === undefined) throw new Error('not a plain PNG');
  const parts: Buffer[] = [];
  for (let at = 8; at + 12 <= file.length;) {
    const length = file.readUInt32BE(at);
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(file.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  const stride = width * channels;
  const packed = inflateSync(Buffer.concat(parts), { maxOutputLength: (stride + 1) * height });
  if (packed.length !== (stride + 1) * height) throw new Error('not a whole PNG');
  const pixels = new Uint8Array(stride * height);
  for (let row = 0; row < height; row += 1) unfilterRow(packed, pixels, { row, stride, channels });
  return { width, height, channels, pixels };
}

/** Undoes the filter of a row, from https://www.w3.org/TR/png/#9Filters. */
function unfilterRow(
  packed: Uint8Array,
  pixels: Uint8Array,
  { row, stride, channels }: { row: number; stride: number; channels: number },
): void {
  const from = row * (stride + 1);
  const to = row * stride;
  const filter = packed[from] ?? 0;
  for (let i = 0; i < stride; i += 1) {
    const left = i >= channels ? (pixels[to + i - channels] ?? 0) : 0;
    const up = row > 0 ? (pixels[to + i - stride] ?? 0) : 0;
    const corner = row > 0 && i >= channels ? (pixels[to + i - stride - channels] ?? 0) : 0;
    const value = packed[from + 1 + i] ?? 0;
    if (filter === 0) pixels[to + i] = value;
    else if (filter === 1) pixels[to + i] = value + left;
    else if (filter === 2) pixels[to + i] = value + up;
    else if (filter === 3) pixels[to + i] = value + ((left + up) >> 1);
    else pixels[to + i] = value + paeth(left, up, corner);
  }
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const fromLeft = Math.abs(guess - left);
  const fromUp = Math.abs(guess - up);
  const fromCorner = Math.abs(guess - corner);
  if (fromLeft <= fromUp && fromLeft <= fromCorner) return left;
  return fromUp <= fromCorner ? up : corner;
}

export function encodePng({ width, height, channels, pixels }: Raster): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  header[9] = channels === 1 ? 0 : channels === 3 ? 2 : 6;
  const stride = width * channels;
  const rows = Buffer.alloc((stride + 1) * height);
  for (let row = 0; row < height; row += 1)
    rows.set(pixels.subarray(row * stride, (row + 1) * stride), row * (stride + 1) + 1);
  const parts = [piece('IHDR', header), piece('IDAT', deflateSync(rows)), piece('IEND', Buffer.alloc(0))];
  return Buffer.concat([SIGNATURE, ...parts]);
}

function piece(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
