import { crc32, deflateSync, inflateSync } from 'node:zlib';
import type { Raster } from './raster.js';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const CHANNELS = new Map([
  [0, 1],
  [2, 3],
  [6, 4],
]);

/** Decodes a PNG of 8 bits without interlacing, as renderers write it. @throws for any other */
export function decodePng(bytes: Uint8Array): Raster {
  const { width, height, channels, packed } = unpack(bytes);
  const pixels = new Uint8Array(width * height * channels);
  for (let channel = 0; channel < channels; channel += 1)
    unfilter(packed, pixels, { width, height, channels, channel, step: channels, first: channel });
  return { width, height, channels, pixels };
}

/** The green of a coloured PNG, which is nearly its brightness, or its grey: a byte for each pixel. @throws as `decodePng` */
export function decodeGreen(bytes: Uint8Array): Raster {
  const { width, height, channels, packed } = unpack(bytes);
  const pixels = new Uint8Array(width * height);
  const channel = channels > 1 ? 1 : 0;
  unfilter(packed, pixels, { width, height, channels, channel, step: 1, first: 0 });
  return { width, height, channels: 1, pixels };
}

function unpack(bytes: Uint8Array) {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!file.subarray(0, 8).equals(SIGNATURE)) throw new Error('not a PNG');
  const width = file.readUInt32BE(16);
  const height = file.readUInt32BE(20);
  const channels = CHANNELS.get(file.readUInt8(25));
  if (file[24] !== 8 || file[28] !== 0 || channels === undefined) throw new Error('not a plain PNG');
  const parts: Buffer[] = [];
  for (let at = 8; at + 12 <= file.length;) {
    const length = file.readUInt32BE(at);
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(file.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  const size = (width * channels + 1) * height;
  const packed = inflateSync(Buffer.concat(parts), { maxOutputLength: size });
  if (packed.length !== size) throw new Error('not a whole PNG');
  return { width, height, channels, packed };
}

interface Channel {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly channel: number;
  /** The distance of its values in the pixels, and the place of the first one. */
  readonly step: number;
  readonly first: number;
}

/** Undoes the filters of a channel, which none of the others matter to, from https://www.w3.org/TR/png/#9Filters. */
function unfilter(
  packed: Uint8Array,
  pixels: Uint8Array,
  { width, height, channels, channel, step, first }: Channel,
): void {
  for (let row = 0; row < height; row += 1) {
    let from = row * (width * channels + 1);
    const filter = packed[from];
    from += 1 + channel;
    let to = row * width * step + first;
    let left = 0;
    let corner = 0;
    for (let x = 0; x < width; x += 1) {
      const up = row > 0 ? pixels[to - width * step] : 0;
      left = packed[from] + predicted(filter, left, up, corner);
      left &= 0xff;
      pixels[to] = left;
      corner = up;
      from += channels;
      to += step;
    }
  }
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  switch (filter) {
    case 0:
      return 0;
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) >> 1;
    default:
      return paeth(left, up, corner);
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
