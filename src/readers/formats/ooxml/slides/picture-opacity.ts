import { createPictureOpacity, MAX_PICTURE_BYTES } from '../../visibility/picture-opacity.js';
import type { OfficePackage } from '../package/office-package.js';
import { childOf, childrenOf, descend, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import { isMedia } from './shape-properties.js';

/** Thousandths of a percent. */
const WHOLE = 100_000;

/** Tells whether nothing can be seen through the pictures of a part. */
export function createOpacity(office: OfficePackage) {
  const isOpaquePart = createPictureOpacity((part) => office.bytes(part, MAX_PICTURE_BYTES));
  return (part: string) => {
    const targets = new Map(office.relations(part).map(({ id, target }) => [id, target]));
    return (picture: XmlElement): boolean => {
      const fill = childOf(picture, 'p:blipFill');
      const blip = descend(fill, 'a:blip');
      const target = targets.get(blip?.attributes['r:embed'] ?? '');
      const isFilling = [...childrenOf(fill)].every(fillsFrame) && !isMedia(picture);
      return target !== undefined && isFilling && !changesAlpha(blip) && isOpaquePart(target);
    };
  };
}

/** Tells whether this part of the filling of a frame leaves nothing of the frame free. */
function fillsFrame({ name, attributes, children }: XmlElement): boolean {
  const sides = ['l', 't', 'r', 'b'].map((side) => wholeNumber(attributes[side] ?? '0') ?? NaN);
  if (name === 'a:stretch')
    return children.every(
      (child) => typeof child === 'string' || (child.name === 'a:fillRect' && fillsFrame(child)),
    );
  if (name === 'a:fillRect') return sides.every((inset) => inset === 0);
  // A part that is cut off beyond the picture is empty.
  if (name === 'a:srcRect') return sides.every((cut) => cut >= 0 && cut < WHOLE);
  return name === 'a:blip' || name === 'a:extLst';
}

/** A picture may be made transparent, wholly or in one of its colours. */
const changesAlpha = (blip: XmlElement | undefined): boolean =>
  [...childrenOf(blip)].some(({ name }) => /^a:(?:alpha|clrChange)/.test(name));
