import { POINTS_PER_PIXEL } from './picture-size.js';
import { TAG, type TiffDirectory } from './tiff.js';
import { at } from '../../../shared/at.js';

const FAX = new Set([2, 3, 4]);
const JPEG = 7;
const MIXED_LINES = 1;
const COLOURS = new Map([
  [1, 'DeviceGray'],
  [3, 'DeviceRGB'],
  [4, 'DeviceCMYK'],
]);
/** Compressions that no reader here knows. */
const UNREAD = new Map([
  [6, 'JPEG of the old kind'],
  [34_661, 'JBIG'],
  [34_712, 'JPEG 2000'],
  [50_000, 'Zstandard'],
  [50_001, 'WebP'],
]);

/** The name of a picture's compression if it is not read. */
export const unreadCompression = (picture: TiffDirectory): string | undefined =>
  UNREAD.get(picture.value(TAG.compression, 1));

/**
 * One picture of a TIFF as a file that text recognition reads: fax and JPEG as a PDF page of its strips, which PDFium decodes, others
 * as a TIFF that begins with this picture. `copy` is the whole file, and changed. @throws when the picture is damaged
 */
export function pictureOfTiff(copy: Buffer, picture: TiffDirectory): Uint8Array {
  const compression = picture.value(TAG.compression, 1);
  const isFax = FAX.has(compression);
  if (isFax || (compression === JPEG && picture.value(TAG.planes, 1) === 1))
    return drawStrips(stripsOf(copy, picture), picture, isFax ? faxFilter(picture) : jpegFilter(picture));
  if (copy.toString('latin1', 0, 2) === 'II') copy.writeUInt32LE(picture.offset, 4);
  else copy.writeUInt32BE(picture.offset, 4);
  return copy;
}

interface Strip {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly data: Buffer;
}

/** The strips or tiles of a picture, with their places in pixels from its top left corner. */
function stripsOf(file: Buffer, picture: TiffDirectory): Strip[] {
  const height = picture.value(TAG.height);
  const isTiled = picture.value(TAG.tileWidth) > 0;
  const width = picture.value(isTiled ? TAG.tileWidth : TAG.width);
  const rows = isTiled
    ? picture.value(TAG.tileHeight)
    : Math.min(height, picture.value(TAG.rowsPerStrip, height));
  const offsets = picture.values(isTiled ? TAG.tileOffsets : TAG.stripOffsets);
  const lengths = picture.values(isTiled ? TAG.tileBytes : TAG.stripBytes);
  const across = isTiled ? Math.ceil(picture.value(TAG.width) / width) : 1;
  if (rows * Math.floor(offsets.length / across) < height)
    throw new RangeError('the picture has too few strips');
  let left = file.length;
  const strips: Strip[] = [];
  for (const [index, offset] of offsets.entries()) {
    // Only writers of a single strip leave its length out.
    const length = lengths[index] ?? file.length - offset;
    const y = Math.floor(index / across) * rows;
    left -= length;
    if (offset + length > file.length || left < 0 || rows === 0 || y >= height)
      throw new RangeError('a strip lies outside of the picture');
    const shown = isTiled ? rows : Math.min(rows, height - y);
    strips.push({
      x: (index % across) * width,
      y,
      width,
      height: shown,
      data: file.subarray(offset, offset + length),
    });
  }
  return strips;
}

interface Filter {
  /** Entries of the image in a PDF. */
  readonly entries: (strip: Strip) => string;
  readonly data: (strip: Strip) => Buffer;
}

function faxFilter(picture: TiffDirectory): Filter {
  const compression = picture.value(TAG.compression);
  const isMixed = compression === 3 && (picture.value(TAG.faxOptions) & MIXED_LINES) !== 0;
  const k = compression === 4 ? -1 : isMixed ? 1 : 0;
  const isBlackOne = picture.value(TAG.photometric) === 1;
  const isReversed = picture.value(TAG.fillOrder, 1) === 2;
  return {
    entries: ({ width, height }) =>
      `/ColorSpace/DeviceGray/BitsPerComponent 1/Filter/CCITTFaxDecode/DecodeParms<</K ${String(k)}/Columns ${String(width)}/Rows ${String(height)}/EncodedByteAlign ${String(compression === 2)}/BlackIs1 ${String(isBlackOne)}>>`,
    data: ({ data }) => (isReversed ? reverseBits(data) : data),
  };
}

const REVERSED = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number.parseInt(Array.from(byte.toString(2).padStart(8, '0')).reverse().join(''), 2),
);
const reverseBits = (data: Buffer): Buffer => Buffer.from(data.map((byte) => at(REVERSED, byte)));

function jpegFilter(picture: TiffDirectory): Filter {
  const samples = picture.value(TAG.samples, 1);
  const isYcbcr = picture.value(TAG.photometric) === 6;
  // The strips share a JPEG of tables alone: its end gives way to the strip, whose start is left out.
  const tables = picture.bytes(TAG.jpegTables).subarray(0, -2);
  return {
    entries: () =>
      `/ColorSpace/${COLOURS.get(samples) ?? 'DeviceGray'}/BitsPerComponent 8/Filter/DCTDecode/DecodeParms<</ColorTransform ${isYcbcr ? '1' : '0'}>>`,
    data: ({ data }) => (tables.length === 0 ? data : Buffer.concat([tables, data.subarray(2)])),
  };
}

/** A PDF of one page, on which the strips stand as images. */
function drawStrips(strips: readonly Strip[], picture: TiffDirectory, filter: Filter): Buffer {
  const scale = POINTS_PER_PIXEL;
  const height = picture.value(TAG.height);
  const names = strips.map((_, index) => `/S${String(index)} ${String(index + 5)} 0 R`).join('');
  const shown = strips.map((strip, index) => {
    const place = [strip.width, 0, 0, strip.height, strip.x, height - strip.y - strip.height];
    return `q ${place.map((value) => (value * scale).toFixed(3)).join(' ')} cm /S${String(index)} Do Q\n`;
  });
  const box = [0, 0, picture.value(TAG.width) * scale, height * scale].join(' ');
  const objects = [
    Buffer.from('<</Type/Catalog/Pages 2 0 R>>'),
    Buffer.from('<</Type/Pages/Count 1/Kids[3 0 R]>>'),
    Buffer.from(
      `<</Type/Page/Parent 2 0 R/MediaBox[${box}]/Contents 4 0 R/Resources<</XObject<<${names}>>>>>>`,
    ),
    stream('', Buffer.from(shown.join(''))),
    ...strips.map((strip) => {
      const size = `/Width ${String(strip.width)}/Height ${String(strip.height)}`;
      return stream(`/Type/XObject/Subtype/Image${size}${filter.entries(strip)}`, filter.data(strip));
    }),
  ];
  return writePdf(objects);
}

const stream = (entries: string, data: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`<<${entries}/Length ${String(data.length)}>>stream\n`),
    data,
    Buffer.from('\nendstream'),
  ]);

function writePdf(objects: readonly Buffer[]): Buffer {
  const parts = [Buffer.from('%PDF-1.4\n')];
  let length = 9;
  let rows = '0000000000 65535 f \n';
  for (const [index, object] of objects.entries()) {
    const part = Buffer.concat([
      Buffer.from(`${String(index + 1)} 0 obj\n`),
      object,
      Buffer.from('\nendobj\n'),
    ]);
    rows += `${String(length).padStart(10, '0')} 00000 n \n`;
    length += part.length;
    parts.push(part);
  }
  const size = String(objects.length + 1);
  const trailer = `trailer<</Root 1 0 R/Size ${size}>>\nstartxref\n${String(length)}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(`xref\n0 ${size}\n${rows}${trailer}`)]);
}
