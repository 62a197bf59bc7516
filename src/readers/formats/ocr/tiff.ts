import type { Angle } from './orientation.js';

/** A file of more pictures is read up to this many, and a directory of more entries is none. */
const MAX_PICTURES = 10_000;
const MAX_ENTRIES = 1_000;
const MAX_VALUES = 100_000;

/** Tags of https://www.itu.int/itudoc/itu-t/com16/tiff-fx/docs/tiff6.pdf. */
export const TAG = {
  kind: 254,
  width: 256,
  height: 257,
  compression: 259,
  photometric: 262,
  fillOrder: 266,
  stripOffsets: 273,
  orientation: 274,
  samples: 277,
  rowsPerStrip: 278,
  stripBytes: 279,
  planes: 284,
  faxOptions: 292,
  tileWidth: 322,
  tileHeight: 323,
  tileOffsets: 324,
  tileBytes: 325,
  jpegTables: 347,
} as const;

/** The angles by which a picture appears turned clockwise, by its tag. Mirrored pictures do not come from scanners. */
const ANGLES: Readonly<Partial<Record<number, Angle>>> = { 3: 180, 6: 270, 8: 90 };

export const angleOf = (orientation: number): Angle => ANGLES[orientation] ?? 0;

/** One picture of a TIFF file. */
export interface TiffDirectory {
  /** The offset of its start in the file. */
  readonly offset: number;
  /** The first value of a tag, or the value that stands for an absent one. */
  readonly value: (tag: number, otherwise?: number) => number;
  /** The values of a tag, none for an absent one. @throws RangeError for too many */
  readonly values: (tag: number) => number[];
  /** The bytes that a tag holds, none for an absent one. */
  readonly bytes: (tag: number) => Buffer;
}

interface Entry {
  readonly size: number;
  readonly count: number;
  readonly at: number;
}

/** Bytes of a value of each type; others hold no numbers that are asked for. */
const SIZES: Readonly<Partial<Record<number, number>>> = { 1: 1, 3: 2, 4: 4, 7: 1 };

/** The way in which a list of pictures ends: behind its last one, where it is damaged, or where no more are read. */
type ListEnd = 'last' | 'damaged' | 'limit';

/** The pictures of a file, which form a list that a hostile file may close to a ring. */
export function readDirectories(file: Buffer): { directories: TiffDirectory[]; end: ListEnd } {
  const isLittle = file.toString('latin1', 0, 2) === 'II';
  const read = (at: number, size: number): number =>
    isLittle ? file.readUIntLE(at, size) : file.readUIntBE(at, size);
  const directories: TiffDirectory[] = [];
  const seen = new Set<number>();
  try {
    let at = read(4, 4);
    for (; at !== 0 && !seen.has(at); seen.add(at), at = nextOf(at)) {
      if (seen.size >= MAX_PICTURES) return { directories, end: 'limit' };
      const entries = read(at, 2);
      if (entries > MAX_ENTRIES || at + 2 + 12 * entries > file.length)
        return { directories, end: 'damaged' };
      directories.push(readDirectory(file, at, read));
    }
    return { directories, end: at === 0 ? 'last' : 'damaged' };
  } catch {
    return { directories, end: 'damaged' };
  }

  function nextOf(at: number): number {
    const link = at + 2 + 12 * read(at, 2);
    // Some writers leave the link of the last one out.
    return link === file.length ? 0 : read(link, 4);
  }
}

export const isTiff = (file: Buffer): boolean => /^(?:II\*\0|MM\0\*)$/.test(file.toString('latin1', 0, 4));

const IS_SMALLER_COPY = 1;

/** The pictures of a file that are its pages, without smaller copies of others. */
export function pagesOfTiff(file: Buffer): { pages: readonly TiffDirectory[]; end: ListEnd } {
  const { directories, end } = readDirectories(file);
  const shown = directories.filter((each) => (each.value(TAG.kind) & IS_SMALLER_COPY) === 0);
  return { pages: shown.length > 0 ? shown : directories, end };
}

function readDirectory(
  file: Buffer,
  offset: number,
  read: (at: number, size: number) => number,
): TiffDirectory {
  const entries = new Map<number, Entry>();
  for (let index = 0; index < read(offset, 2); index += 1) {
    const at = offset + 2 + 12 * index;
    const size = SIZES[read(at + 2, 2)];
    const count = read(at + 4, 4);
    if (size === undefined || count === 0) continue;
    const start = size * count <= 4 ? at + 8 : read(at + 8, 4);
    if (start + size * count <= file.length) entries.set(read(at, 2), { size, count, at: start });
  }
  return {
    offset,
    value(tag, otherwise = 0) {
      const entry = entries.get(tag);
      return entry ? read(entry.at, entry.size) : otherwise;
    },
    values(tag) {
      const entry = entries.get(tag);
      if (!entry) return [];
      if (entry.count > MAX_VALUES) throw new RangeError('too many values');
      return Array.from({ length: entry.count }, (_, index) =>
        read(entry.at + index * entry.size, entry.size),
      );
    },
    bytes(tag) {
      const { at, count } = entries.get(tag) ?? { at: 0, count: 0 };
      return file.subarray(at, at + count);
    },
  };
}
