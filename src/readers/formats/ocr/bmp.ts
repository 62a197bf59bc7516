/** The least size of the header that Windows writes, the size of the header of OS/2 1, and the sizes of OS/2 2. */
const HEADER = 40;
const OLD_HEADER = 12;
const OS2_HEADERS: readonly number[] = [16, 64];
const FILE_HEADER = 14;
const RLE_24 = 4;

export const isBmp = (file: Buffer): boolean => file.toString('latin1', 0, 2) === 'BM';

/** The size of a BMP, whose rows may begin at the top. @throws RangeError when the file ends before it */
export function bmpSize(file: Buffer): { width: number; height: number } {
  const isOld = file.readUInt32LE(FILE_HEADER) === OLD_HEADER;
  const width = isOld ? file.readUInt16LE(18) : file.readInt32LE(18);
  const height = isOld ? file.readUInt16LE(20) : file.readInt32LE(22);
  return { width: Math.max(0, width), height: Math.abs(height) };
}

/**
 * Returns a BMP with a header that text recognition reads: the headers of OS/2 are rewritten as Windows writes them, from
 * https://www.fileformat.info/format/os2bmp/egff.htm. @throws RangeError when it is damaged
 */
export function readableBmp(file: Buffer): Buffer {
  const size = file.readUInt32LE(FILE_HEADER);
  if (size === OLD_HEADER) return withNewHeader(file, oldHeader(file), 3);
  if (!OS2_HEADERS.includes(size)) return file;
  const header = Buffer.alloc(HEADER);
  file.copy(header, 0, FILE_HEADER, FILE_HEADER + Math.min(size, HEADER));
  header.writeUInt32LE(HEADER, 0);
  // These numbers mean something else in OS/2 than in Windows.
  if (header.readUInt32LE(16) === 3 || header.readUInt32LE(16) === RLE_24)
    throw new RangeError('the compression is not read');
  return withNewHeader(file, header, 4);
}

function oldHeader(file: Buffer): Buffer {
  const header = Buffer.alloc(HEADER);
  header.writeUInt32LE(HEADER, 0);
  header.writeInt32LE(file.readUInt16LE(18), 4);
  header.writeInt32LE(file.readUInt16LE(20), 8);
  header.writeUInt16LE(1, 12);
  header.writeUInt16LE(file.readUInt16LE(24), 14);
  return header;
}

/** @param entry how many bytes a colour of the file's palette has */
function withNewHeader(file: Buffer, header: Buffer, entry: number): Buffer {
  const start = FILE_HEADER + file.readUInt32LE(FILE_HEADER);
  const pixels = file.readUInt32LE(10);
  const bits = header.readUInt16LE(14);
  if (pixels < start || pixels > file.length) throw new RangeError('the pixels lie outside of the file');
  const colors = bits > 8 ? 0 : Math.min(2 ** bits, Math.floor((pixels - start) / entry));
  const palette = Buffer.alloc(colors * 4);
  for (let index = 0; index < colors; index += 1)
    file.copy(palette, index * 4, start + index * entry, start + index * entry + 3);
  header.writeUInt32LE(colors, 32);
  const offset = FILE_HEADER + HEADER + palette.length;
  const first = Buffer.from(file.subarray(0, FILE_HEADER));
  first.writeUInt32LE(offset + file.length - pixels, 2);
  first.writeUInt32LE(offset, 10);
  return Buffer.concat([first, header, palette, file.subarray(pixels)]);
}
