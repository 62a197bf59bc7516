import { bmpSize, isBmp } from './bmp.js';
import { gifSize, isGif } from './gif.js';
import type { Angle } from './orientation.js';
import { angleOf, readDirectories, TAG, type TiffDirectory } from './tiff.js';

/** Pictures count as pages of 150 dots to the inch. */
export const POINTS_PER_PIXEL = 72 / 150;

/** The facts about a picture that its start tells. */
export interface PictureSize {
  /** As it is stored, in pixels. */
  readonly width: number;
  readonly height: number;
  /** The angle by which the picture appears turned clockwise. */
  readonly angle: Angle;
}

/** Reads the size of a PNG, JPEG, GIF, BMP or WebP file without decoding it; undefined for a damaged one. */
export function pictureSize(file: Buffer): PictureSize | undefined {
  try {
    if (file.readUInt32BE(0) === 0x89504e47) return upright(file.readUInt32BE(16), file.readUInt32BE(20));
    if (file.readUInt16BE(0) === 0xffd8) return jpegSize(file);
    if (isBmp(file)) return { ...bmpSize(file), angle: 0 };
    if (isGif(file)) return { ...gifSize(file), angle: 0 };
    return webpSize(file);
  } catch {
    // The file ends before its size.
    return undefined;
  }
}

export const tiffSize = (picture: TiffDirectory): PictureSize => ({
  width: picture.value(TAG.width),
  height: picture.value(TAG.height),
  angle: angleOf(picture.value(TAG.orientation)),
});

const upright = (width: number, height: number): PictureSize => ({ width, height, angle: 0 });

const APP1 = 0xe1;

/** The size is in the start of a frame: SOF0 to SOF15, without DHT, JPG and DAC. */
function jpegSize(file: Buffer): PictureSize | undefined {
  let angle: Angle = 0;
  for (let at = 2; at + 9 <= file.length;) {
    if (file[at] !== 0xff) return undefined;
    const marker = file.readUInt8(at + 1);
    if (marker === 0xff) at += 1;
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { width: file.readUInt16BE(at + 7), height: file.readUInt16BE(at + 5), angle };
    else {
      const end = at + 2 + Math.max(2, file.readUInt16BE(at + 2));
      if (marker === APP1 && angle === 0) angle = exifAngle(file.subarray(at + 4, end));
      at = end;
    }
  }
  return undefined;
}

/** Reads how cameras were held. Their data about a picture is a TIFF file, whose first directory says it. */
function exifAngle(segment: Buffer): Angle {
  if (segment.toString('latin1', 0, 6) !== 'Exif\0\0') return 0;
  const [first] = readDirectories(segment.subarray(6)).directories;
  return first ? angleOf(first.value(TAG.orientation)) : 0;
}

function webpSize(file: Buffer): PictureSize | undefined {
  if (file.toString('latin1', 8, 12) !== 'WEBP') return undefined;
  const kind = file.toString('latin1', 12, 16);
  if (kind === 'VP8 ') return upright(file.readUInt16LE(26) & 0x3fff, file.readUInt16LE(28) & 0x3fff);
  if (kind === 'VP8X') return upright(file.readUIntLE(24, 3) + 1, file.readUIntLE(27, 3) + 1);
  if (kind !== 'VP8L') return undefined;
  const bits = file.readUInt32LE(21);
  return upright((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
}
