import { encodePng } from '../../../src/readers/formats/pictures/png.js';

/** The word HELLO in letters of five by five dots. */
const DOTS = [
  '#...#.#####.#.....#......###.',
  '#...#.#.....#.....#.....#...#',
  '#####.####..#.....#.....#...#',
  '#...#.#.....#.....#.....#...#',
  '#...#.#####.#####.#####..###.',
];
/** Each dot has so many pixels a side, as a block of a JPEG has. */
const DOT = 8;
const WIDTH = ((DOTS[0]?.length ?? 0) + 4) * DOT;
const HEIGHT = (DOTS.length + 4) * DOT;

const isBlack = (x: number, y: number): boolean =>
  DOTS[Math.floor(y / DOT) - 2]?.charAt(Math.floor(x / DOT) - 2) === '#';

const pixels = Uint8Array.from({ length: WIDTH * HEIGHT }, (_, at) =>
  isBlack(at % WIDTH, Math.floor(at / WIDTH)) ? 0 : 255,
);

export const png = (): Uint8Array => encodePng({ width: WIDTH, height: HEIGHT, channels: 1, pixels });

/** A grey TIFF without compression, whose directory stands before its pixels. */
export function tiff(): Uint8Array {
  const entries: readonly (readonly [tag: number, type: 3 | 4, value: number])[] = [
    [256, 3, WIDTH],
    [257, 3, HEIGHT],
    [258, 3, 8],
    [259, 3, 1],
    [262, 3, 1],
    [273, 4, 256],
    [277, 3, 1],
    [278, 3, HEIGHT],
    [279, 4, pixels.length],
  ];
  const head = Buffer.alloc(256);
  head.write('II*\0', 'latin1');
  head.writeUInt32LE(8, 4);
  head.writeUInt16LE(entries.length, 8);
  for (const [index, [tag, type, value]] of entries.entries()) {
    const at = 10 + 12 * index;
    head.writeUInt16LE(tag, at);
    head.writeUInt16LE(type, at + 2);
    head.writeUInt32LE(1, at + 4);
    head.writeUInt32LE(value, at + 8);
  }
  return Buffer.concat([head, pixels]);
}

/** A lossless WebP in which a pixel takes one bit: red and blue are those of green, which is black or white. */
export function webp(): Uint8Array {
  const bits: number[] = [];
  const put = (value: number, count: number): void => {
    for (let bit = 0; bit < count; bit += 1) bits.push((value >> bit) & 1);
  };
  put(WIDTH - 1, 14);
  put(HEIGHT - 1, 14);
  // Neither transparency nor a later version; green is subtracted from red and blue; no cache and no further codes.
  put(0, 4);
  put(1, 1);
  put(2, 2);
  put(0, 3);
  // A code of the symbols 0 and 255 for green, then those of one symbol for red, blue, transparency and distance.
  put(0b011, 3);
  put(0, 1);
  put(255, 8);
  for (const symbol of [0, 0, 255, 0]) {
    put(0b101, 3);
    put(symbol, 8);
  }
  for (const pixel of pixels) put(pixel === 0 ? 0 : 1, 1);
  const data = Buffer.from([0x2f, ...packed(bits, 'low')]);
  const body = Buffer.concat([
    Buffer.from('WEBPVP8L'),
    size(data.length),
    data,
    Buffer.alloc(data.length % 2),
  ]);
  return Buffer.concat([Buffer.from('RIFF'), size(body.length), body]);
}

function size(length: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(length);
  return bytes;
}

function packed(bits: readonly number[], first: 'low' | 'high'): number[] {
  const bytes: number[] = Array.from({ length: Math.ceil(bits.length / 8) }, () => 0);
  for (const [at, bit] of bits.entries()) {
    const index = at >> 3;
    bytes[index] = (bytes[index] ?? 0) | (bit << (first === 'low' ? at & 7 : 7 - (at & 7)));
  }
  return bytes;
}

/** A grey BMP whose rows begin at the bottom, with a palette. */
export function bmp(): Uint8Array {
  const head = Buffer.alloc(14 + 40 + 256 * 4);
  head.write('BM', 'latin1');
  head.writeUInt32LE(head.length + pixels.length, 2);
  head.writeUInt32LE(head.length, 10);
  for (const [at, value] of [40, WIDTH, HEIGHT, 0x8_0001].entries()) head.writeUInt32LE(value, 14 + 4 * at);
  for (let grey = 0; grey < 256; grey += 1) head.fill(grey, 54 + 4 * grey, 57 + 4 * grey);
  const rows = Array.from({ length: HEIGHT }, (_, y) => pixels.subarray(y * WIDTH, (y + 1) * WIDTH));
  return Buffer.concat([head, ...rows.reverse()]);
}

/** A GIF in black and white whose codes all have eight bits, since its table is cleared before it grows over that. */
export function gif(): Uint8Array {
  const [clear, end] = [128, 129];
  const codes = [...pixels].flatMap((pixel, at) => [...(at % 100 === 0 ? [clear] : []), pixel === 0 ? 0 : 1]);
  const data = [...codes, end];
  const parts: Buffer[] = [];
  for (let at = 0; at < data.length; at += 255)
    parts.push(Buffer.from([Math.min(255, data.length - at)]), Buffer.from(data.slice(at, at + 255)));
  const place = [WIDTH & 255, WIDTH >> 8, HEIGHT & 255, HEIGHT >> 8];
  return Buffer.concat([
    Buffer.from('GIF89a'),
    Buffer.from([...place, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]),
    Buffer.from([0x2c, 0, 0, 0, 0, ...place, 0, 7]),
    ...parts,
    Buffer.from([0, 0x3b]),
  ]);
}

/** A grey JPEG whose blocks are black or white as a whole, so that only their mean is written. */
export function jpeg(): Uint8Array {
  const bits: number[] = [];
  let last = 0;
  for (let y = 0; y < HEIGHT; y += DOT)
    for (let x = 0; x < WIDTH; x += DOT) {
      const mean = isBlack(x, y) ? -64 : 63;
      const change = mean - last;
      last = mean;
      // Code 0 is no change, and 10 one of seven bits; a negative number is written as the complement of its amount.
      if (change === 0) bits.push(0);
      else bits.push(1, 0, ...sevenBits(change > 0 ? change : change + 127));
      // No other coefficients.
      bits.push(0);
    }
  while (bits.length % 8 > 0) bits.push(1);
  const scan = packed(bits, 'high').flatMap((byte) => (byte === 0xff ? [byte, 0] : [byte]));
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xdb, [0, ...Array.from({ length: 64 }, () => 16)]),
    segment(0xc0, [8, HEIGHT >> 8, HEIGHT & 255, WIDTH >> 8, WIDTH & 255, 1, 1, 0x11, 0]),
    segment(0xc4, [0x00, 1, 1, ...Array.from({ length: 14 }, () => 0), 0, 7]),
    segment(0xc4, [0x10, 1, ...Array.from({ length: 15 }, () => 0), 0]),
    segment(0xda, [1, 1, 0, 0, 63, 0]),
    Buffer.from([...scan, 0xff, 0xd9]),
  ]);
}

const sevenBits = (value: number): number[] => [6, 5, 4, 3, 2, 1, 0].map((bit) => (value >> bit) & 1);

const segment = (marker: number, bytes: readonly number[]): Buffer =>
  Buffer.from([0xff, marker, (bytes.length + 2) >> 8, (bytes.length + 2) & 255, ...bytes]);
