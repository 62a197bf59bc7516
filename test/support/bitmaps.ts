import type { Scan } from './scans.js';

type Windows = 1 | 4 | 8 | 16 | 24 | 32;
export interface BitmapShape {
  readonly bits: Windows;
  /** The length of the second header: 12 and 64 are OS/2's. */
  readonly header?: 12 | 40 | 64;
  readonly isTopDown?: boolean;
  readonly compression?: 'rle8' | 'rle4' | 'fields';
}

const NUMBERS = { rle8: 1, rle4: 2, fields: 3 };

/** A page as a BMP in grey. */
export function toBmp(
  scan: Scan,
  { bits, header = 40, isTopDown = false, compression }: BitmapShape,
): Buffer {
  const rows: Buffer[] = [];
  for (let y = 0; y < scan.height; y += 1) {
    const grey = scan.grey.subarray(y * scan.width, (y + 1) * scan.width);
    rows.push(compression?.startsWith('rle') === true ? runsOf(grey, bits) : rowOf(grey, bits));
  }
  if (!isTopDown) rows.reverse();
  const masks = compression === 'fields' ? [0xf800, 0x07e0, 0x001f] : [];
  const colours = bits > 8 ? 0 : 2 ** bits;
  const entry = header === 12 ? 3 : 4;
  const head = Buffer.alloc(14 + header + 4 * masks.length + colours * entry);
  head.write('BM', 'latin1');
  head.writeUInt32LE(head.length, 10);
  head.writeUInt32LE(header, 14);
  if (header === 12)
    for (const [at, value] of [scan.width, scan.height, 1, bits].entries())
      head.writeUInt16LE(value, 18 + 2 * at);
  else {
    head.writeInt32LE(scan.width, 18);
    head.writeInt32LE(isTopDown ? -scan.height : scan.height, 22);
    head.writeUInt16LE(1, 26);
    head.writeUInt16LE(bits, 28);
    head.writeUInt32LE(compression ? NUMBERS[compression] : 0, 30);
  }
  for (const [at, mask] of masks.entries()) head.writeUInt32LE(mask, 54 + 4 * at);
  for (let index = 0; index < colours; index += 1) {
    const at = 14 + header + index * entry;
    head.fill(Math.round((index * 255) / (colours - 1)), at, at + 3);
  }
  return Buffer.concat([head, ...rows]);
}

function rowOf(grey: Uint8Array, bits: Windows): Buffer {
  const row = Buffer.alloc(Math.ceil((grey.length * bits) / 32) * 4);
  for (const [x, value] of grey.entries())
    if (bits < 8) {
      const at = x * bits;
      row[at >> 3] = (row[at >> 3] ?? 0) | ((value >> (8 - bits)) << (8 - bits - (at & 7)));
    } else if (bits === 16)
      row.writeUInt16LE(((value >> 3) << 11) | ((value >> 2) << 5) | (value >> 3), x * 2);
    else row.fill(value, (x * bits) / 8, (x * bits) / 8 + Math.min(3, bits / 8));
  return row;
}

function runsOf(grey: Uint8Array, bits: Windows): Buffer {
  const runs: number[] = [];
  for (let x = 0; x < grey.length;) {
    const value = (grey[x] ?? 0) >> (8 - bits);
    const start = x;
    while (x < grey.length && x - start < 255 && (grey[x] ?? 0) >> (8 - bits) === value) x += 1;
    runs.push(x - start, bits === 4 ? value * 17 : value);
  }
  return Buffer.from([...runs, 0, 0]);
}

/** A page as a GIF of 16 greys, without growing codes; `frames` of an animation are the same picture. */
export function toGif({ width, height, grey }: Scan, { frames = 1 } = {}): Buffer {
  const [clear, end] = [128, 129];
  const data = Buffer.from([
    ...Array.from(grey).flatMap((value, at) => (at % 100 === 0 ? [clear, value >> 4] : [value >> 4])),
    end,
  ]);
  const blocks: Buffer[] = [];
  for (let at = 0; at < data.length; at += 255) {
    const block = data.subarray(at, at + 255);
    blocks.push(Buffer.from([block.length]), block);
  }
  const place = [width & 255, width >> 8, height & 255, height >> 8];
  const palette = Array.from({ length: 16 }, (_, index) => [index * 17, index * 17, index * 17]).flat();
  const image = Buffer.concat([Buffer.from([0x2c, 0, 0, 0, 0, ...place, 0, 7]), ...blocks, Buffer.from([0])]);
  return Buffer.concat([
    Buffer.from('GIF89a'),
    Buffer.from([...place, 0x83, 0, 0, ...palette]),
    ...Array.from({ length: frames }, () => image),
    Buffer.from([0x3b]),
  ]);
}
