import { createPictureOpacity, MOST_PICTURE_BYTES } from '../../visibility/picture-opacity.js';
import type { OfficePackage } from '../package/office-package.js';
import { childOf, childrenOf, descend } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';

/** Tells whether nothing can be seen through the pictures of a part. */
export function createOpacity(office: OfficePackage) {
  const isOpaquePart = createPictureOpacity((part) => office.bytes(part, MOST_PICTURE_BYTES));
  return (part: string) => {
    const targets = new Map(office.relations(part).map(({ id, target }) => [id, target]));
    return (picture: XmlElement): boolean => {
      const fill = childOf(picture, 'p:blipFill');
      const blip = descend(fill, 'a:blip');
      const target = targets.get(blip?.attributes['r:embed'] ?? '');
      if (target === undefined || changesAlpha(blip) || childOf(fill, 'a:tile')) return false;
      return isOpaquePart(target);
    };
  };
}

/** A picture may be made transparent, wholly or in one of its colours. */
const changesAlpha = (blip: XmlElement | undefined): boolean =>
  [...childrenOf(blip)].some(({ name }) => /^a:(?:alpha|clrChange)/.test(name));
