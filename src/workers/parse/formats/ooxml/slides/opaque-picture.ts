import { decodePng } from '../../pdf/render/png.js';
import type { OfficePackage } from '../package/office-package.js';
import { childOf, childrenOf, descend } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';

/** Larger pictures with transparency are taken to be seen through. */
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_PIXELS = 4_000_000;
/** Most pictures of a file that are decoded. */
const MOST_DECODED = 50;
const GREY_WITH_ALPHA = 4;
const COLORS_WITH_ALPHA = 6;

/** Tells whether nothing can be seen through the pictures of a part. JPEG has no transparency, of PNG the pixels are looked at. */
export function createOpacity(office: OfficePackage) {
  const known = new Map<string, boolean>();
  let decoded = 0;
  const isOpaquePart = (part: string): boolean => {
    if (/\.(?:jpe?g|bmp)$/i.test(part)) return true;
    if (!/\.png$/i.test(part) || decoded >= MOST_DECODED) return false;
    decoded += 1;
    const bytes = office.bytes(part, MOST_BYTES);
    return bytes !== undefined && isOpaquePng(bytes);
  };
  return (part: string) => {
    const targets = new Map(office.relations(part).map(({ id, target }) => [id, target]));
    return (picture: XmlElement): boolean => {
      const blip = descend(picture, 'p:blipFill', 'a:blip');
      const target = targets.get(blip?.attributes['r:embed'] ?? '');
      if (target === undefined || changesAlpha(blip)) return false;
      const isOpaque = known.get(target) ?? isOpaquePart(target);
      known.set(target, isOpaque);
      return isOpaque && childOf(childOf(picture, 'p:blipFill'), 'a:tile') === undefined;
    };
  };
}

/** A picture may be made transparent, wholly or in one of its colours. */
const changesAlpha = (blip: XmlElement | undefined): boolean =>
  [...childrenOf(blip)].some(({ name }) => /^a:(?:alpha|clrChange)/.test(name));

function isOpaquePng(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.length < 33) return false;
  const kind = file[25];
  const end = file.indexOf('IDAT', 0, 'latin1');
  if (file.subarray(0, Math.max(0, end)).includes('tRNS')) return false;
  if (kind !== GREY_WITH_ALPHA && kind !== COLORS_WITH_ALPHA) return true;
  if (file.readUInt32BE(16) * file.readUInt32BE(20) > MOST_PIXELS) return false;
  try {
    const { pixels, channels } = decodePng(file);
    for (let at = channels - 1; at < pixels.length; at += channels) if (pixels[at] !== 255) return false;
    return channels === 4;
  } catch {
    return false;
  }
}
