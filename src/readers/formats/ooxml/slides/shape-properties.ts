import { lookUp } from '../../../../shared/at.js';
import { createPictureOpacity, MAX_PICTURE_BYTES } from '../../visibility/picture-opacity.js';
import type { OfficePackage } from '../package/office-package.js';
import { childOf, childrenOf, findFirst, isTrue, wholeNumber, descend } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';

/** The thickest line, in units of the file, that is no ground for text: 3 points. */
const THICKEST_LINE = 38_100;
/** Properties of a shape that state nothing but its place, its fill and a thin line. */
const PLAIN: ReadonlySet<string> = new Set(
  'a:xfrm a:prstGeom a:noFill a:solidFill a:gradFill a:blipFill a:pattFill a:grpFill a:ln a:extLst'.split(
    ' ',
  ),
);

/** Tells whether the properties of a shape state nothing but a fill of its outline, so that its effects need not be known. */
export const isPlainlyFilled = (properties: XmlElement | undefined): boolean =>
  [...childrenOf(properties)].every(
    (child) => PLAIN.has(child.name) || (child.name === 'a:effectLst' && child.children.length === 0),
  ) && isThin(childOf(properties, 'a:ln'));

/** Tells whether a line is no ground for text, being absent or thin. */
export const isThin = (line: XmlElement | undefined): boolean =>
  childOf(line, 'a:noFill') !== undefined ||
  (wholeNumber(line?.attributes['w'] ?? '0') ?? Infinity) <= THICKEST_LINE;

export function isRectangle(properties: XmlElement | undefined): boolean {
  if (childOf(properties, 'a:custGeom')) return false;
  const kind = childOf(properties, 'a:prstGeom')?.attributes['prst'];
  return kind === undefined || kind === 'rect';
}

/** Tells whether a shape, group or frame is not shown. */
export function isHidden(shape: XmlElement): boolean {
  for (const properties of childrenOf(shape))
    if (isTrue(childOf(properties, 'p:cNvPr')?.attributes['hidden'])) return true;
  return false;
}

/** Films and sounds show a picture until they are played. */
export const isMedia = (picture: XmlElement): boolean =>
  findFirst(picture, 'a:videoFile') !== undefined || findFirst(picture, 'a:audioFile') !== undefined;

/** Properties of a run that do not make letters seen which have the colour of their background. */
const PLAIN_RUN: ReadonlySet<string> = new Set(
  'a:noFill a:solidFill a:highlight a:latin a:ea a:cs a:sym a:rtl a:extLst a:uLnTx a:uLn a:uFillTx a:uFill'.split(
    ' ',
  ),
);

/**
 * Tells whether more than a fill makes letters seen: a line around them, a shadow, the colour of a link, or properties that
 * are not followed.
 */
export const isDrawnOtherwise = (properties: XmlElement | undefined): boolean =>
  [...childrenOf(properties)].some(
    (child) =>
      !PLAIN_RUN.has(child.name) &&
      (child.name !== 'a:ln' || childOf(child, 'a:noFill') === undefined) &&
      (child.name !== 'a:effectLst' || child.children.length > 0),
  );

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
      const target = lookUp(targets, blip?.attributes['r:embed']);
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
