import type { Scan } from './scans.js';

interface TiffPicture {
  readonly width: number;
  readonly height: number;
  readonly bits: 1 | 8;
  readonly compression: number;
  /** The compressed rows, cut into strips of `rows` each. */
  readonly strips: readonly Buffer[];
  readonly rows?: number;
  readonly samples?: number;
  /** 0 where 0 is white, 1 where 0 is black, 6 for colours of JPEG. */
  readonly photometric: number;
  /** Further numbers, by their tags. */
  readonly tags?: readonly (readonly [number, number])[];
}

/** A TIFF file of these pictures, whose last one links to the `ring`th when that is given. */
export function writeTiff(pictures: readonly TiffPicture[], { ring }: { ring?: number } = {}): Buffer {
  const parts: Buffer[] = [Buffer.from([0x49, 0x49, 42, 0, 0, 0, 0, 0])];
  let length = 8;
  const add = (part: Buffer): number => {
    parts.push(part, Buffer.alloc(part.length % 2));
    length += part.length + (part.length % 2);
    return length - part.length - (part.length % 2);
  };
  const starts: number[] = [];
  let link = { part: parts[0] ?? Buffer.alloc(8), at: 4 };
  for (const picture of pictures) {
    const part = directory(picture, picture.strips.map(add), add);
    const start = add(part);
    starts.push(start);
    link.part.writeUInt32LE(start, link.at);
    link = { part, at: part.length - 4 };
  }
  if (ring !== undefined) link.part.writeUInt32LE(starts[ring] ?? 0, link.at);
  return Buffer.concat(parts);
}

function directory(picture: TiffPicture, offsets: readonly number[], add: (part: Buffer) => number): Buffer {
  const {
    width,
    height,
    bits,
    compression,
    photometric,
    strips,
    rows = height,
    samples = 1,
    tags = [],
  } = picture;
  const lengths = strips.map((strip) => strip.length);
  const entries: (readonly [number, readonly number[]])[] = [
    [256, [width]],
    [257, [height]],
    [258, [bits]],
    [259, [compression]],
    [262, [photometric]],
    [273, offsets],
    [277, [samples]],
    [278, [rows]],
    [279, lengths],
    ...tags.map(([tag, value]) => [tag, [value]] as const),
  ];
  entries.sort(([first], [second]) => first - second);
  const part = Buffer.alloc(2 + 12 * entries.length + 4);
  part.writeUInt16LE(entries.length, 0);
  for (const [index, [tag, values]] of entries.entries()) {
    const at = 2 + 12 * index;
    part.writeUInt16LE(tag, at);
    part.writeUInt16LE(4, at + 2);
    part.writeUInt32LE(values.length, at + 4);
    const list = Buffer.alloc(4 * values.length);
    for (const [place, value] of values.entries()) list.writeUInt32LE(value, 4 * place);
    part.writeUInt32LE(values.length === 1 ? (values[0] ?? 0) : add(list), at + 8);
  }
  return part;
}

/** The pixels of a picture as bits, of which 1 is black. */
export function toBits({ width, height, grey }: Scan): Buffer {
  const stride = Math.ceil(width / 8);
  const bits = Buffer.alloc(stride * height);
  for (const [at, shade] of grey.entries())
    if (shade < 128) {
      const x = at % width;
      const byte = Math.floor(at / width) * stride + (x >> 3);
      bits[byte] = (bits[byte] ?? 0) | (0x80 >> (x & 7));
    }
  return bits;
}

/** Bytes as PackBits without repetitions. */
export function packBits(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 128) {
    const part = bytes.subarray(at, at + 128);
    parts.push(Buffer.from([part.length - 1]), part);
  }
  return Buffer.concat(parts);
}
