/** What the start of a picture says of it. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
  /** The number of pictures in the file: pages of a TIFF. */
  readonly pictures: number;
}

const MOST_PICTURES = 10_000;

/** Reads the size of a PNG, JPEG, WebP or TIFF file without decoding it; undefined for a damaged one. */
export function pictureSize(bytes: Uint8Array): PictureSize | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (file.readUInt32BE(0) === 0x89504e47) return single(file.readUInt32BE(16), file.readUInt32BE(20));
    if (file.readUInt16BE(0) === 0xffd8) return jpegSize(file);
    if (file.toString('latin1', 8, 12) === 'WEBP') return webpSize(file);
    return tiffSize(file);
  } catch {
    // The file ends before its size.
    return undefined;
  }
}

const single = (width: number, height: number): PictureSize => ({ width, height, pictures: 1 });

/** The size is in the start of a frame: SOF0 to SOF15, without DHT, JPG and DAC. */
function jpegSize(file: Buffer): PictureSize | undefined {
  for (let at = 2; at + 9 <= file.length;) {
    if (file[at] !== 0xff) return undefined;
    const marker = file[at + 1] ?? 0;
    if (marker === 0xff) at += 1;
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return single(file.readUInt16BE(at + 7), file.readUInt16BE(at + 5));
    else at += 2 + Math.max(2, file.readUInt16BE(at + 2));
  }
  return undefined;
}

function webpSize(file: Buffer): PictureSize | undefined {
  const kind = file.toString('latin1', 12, 16);
  if (kind === 'VP8 ') return single(file.readUInt16LE(26) & 0x3fff, file.readUInt16LE(28) & 0x3fff);
  if (kind === 'VP8X') return single(file.readUIntLE(24, 3) + 1, file.readUIntLE(27, 3) + 1);
  if (kind !== 'VP8L') return undefined;
  const bits = file.readUInt32LE(21);
  return single((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
}

const WIDTH = 256;
const HEIGHT = 257;

/** The directories of a TIFF form a list, which a hostile file may close to a ring. */
function tiffSize(file: Buffer): PictureSize | undefined {
  const isLittle = file.toString('latin1', 0, 2) === 'II';
  const short = (at: number): number => (isLittle ? file.readUInt16LE(at) : file.readUInt16BE(at));
  const long = (at: number): number => (isLittle ? file.readUInt32LE(at) : file.readUInt32BE(at));
  if (short(2) !== 42) return undefined;
  let size = { width: 0, height: 0 };
  const seen = new Set<number>();
  for (let at = long(4); at !== 0 && !seen.has(at) && seen.size < MOST_PICTURES;) {
    const entries = short(at);
    if (seen.size === 0) {
      const values = new Map<number, number>();
      for (let entry = at + 2; entry < at + 2 + 12 * entries; entry += 12)
        values.set(short(entry), short(entry + 2) === 3 ? short(entry + 8) : long(entry + 8));
      size = { width: values.get(WIDTH) ?? 0, height: values.get(HEIGHT) ?? 0 };
    }
    seen.add(at);
    at = long(at + 2 + 12 * entries);
  }
  return { ...size, pictures: seen.size };
}
