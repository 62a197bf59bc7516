import { decodePng } from '../pictures/png.js';

/** Larger pictures with transparency are taken to be seen through. */
const MAX_PIXELS = 4_000_000;
const GREY_WITH_ALPHA = 4;
const COLORS_WITH_ALPHA = 6;
const MIN_LENGTH = 33;

/** Tells whether nothing can be seen through a PNG. The pixels of a PNG with transparency are looked at. */
function isOpaquePng(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.length < MIN_LENGTH) return false;
  const kind = file[25];
  const pixelsStart = file.indexOf('IDAT', 0, 'latin1');
  if (file.subarray(0, Math.max(0, pixelsStart)).includes('tRNS')) return false;
  if (kind !== GREY_WITH_ALPHA && kind !== COLORS_WITH_ALPHA) return true;
  if (file.readUInt32BE(16) * file.readUInt32BE(20) > MAX_PIXELS) return false;
  try {
    const { pixels, channels } = decodePng(file);
    for (let at = channels - 1; at < pixels.length; at += channels) if (pixels[at] !== 255) return false;
    return channels === 4;
  } catch {
    return false;
  }
}

/** More pictures of a file are not looked at, and longer ones neither. */
const MAX_PICTURES = 50;
export const MAX_PICTURE_BYTES = 4 * 1024 * 1024;

/**
 * Tells of pictures by their names whether nothing is seen through them: JPEG has no transparency, PNG is looked at.
 * @param read returns the bytes of a picture; undefined when it is too long or cannot be read
 */
export function createPictureOpacity(
  read: (name: string) => Uint8Array | undefined,
): (name: string) => boolean {
  const known = new Map<string, boolean>();
  let looked = 0;
  const look = (name: string): boolean => {
    if (/\.(?:jpe?g|bmp)$/i.test(name)) return true;
    if (!/\.png$/i.test(name) || looked >= MAX_PICTURES) return false;
    looked += 1;
    const bytes = read(name);
    return bytes !== undefined && isOpaquePng(bytes);
  };
  return (name) => {
    const isOpaque = known.get(name) ?? look(name);
    if (known.size < 10_000) known.set(name, isOpaque);
    return isOpaque;
  };
}
