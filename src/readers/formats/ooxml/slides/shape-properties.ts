import { childOf, childrenOf, findFirst, isTrue, wholeNumber } from '../xml/elements.js';
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
