import type { Fill } from '../../visibility/layers.js';
import { colorIn, fillOf } from '../drawing/colors.js';
import { childOf, childrenOf, descend, isTrue, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import type { InheritedPlace } from './placeholders.js';
import { isPlainlyFilled } from './shape-properties.js';
import type { SlideTheme } from './slide-theme.js';

/**
 * Tells whether a shape is drawn as its box and its fill say. Where it has effects, a thick line or anything else that is
 * not followed, nobody knows what it covers and how far it reaches.
 */
export function isFollowed(
  shape: XmlElement,
  inherited: InheritedPlace | undefined,
  theme: SlideTheme,
): boolean {
  const properties = childOf(shape, 'p:spPr');
  if (!isPlainlyFilled(properties) || inherited?.isPlain === false) return false;
  const numberOf = (name: string): number =>
    wholeNumber(descend(shape, 'p:style', name)?.attributes['idx'] ?? '0') ?? Infinity;
  const line = childOf(properties, 'a:ln');
  const isOwnLine = line?.attributes['w'] !== undefined || childOf(line, 'a:noFill') !== undefined;
  const hasOwnEffects = childOf(properties, 'a:effectLst') !== undefined;
  return (
    (isOwnLine || theme.isThinLine(numberOf('a:lnRef'))) && (hasOwnEffects || numberOf('a:effectRef') === 0)
  );
}

/** Returns the fill of a shape. Empty placeholders for text are not drawn when slides are shown, whatever fills them. */
export function shapeFill(shape: XmlElement, inherited: InheritedPlace | undefined, theme: SlideTheme): Fill {
  if (shape.name !== 'p:sp' || isTrue(shape.attributes['useBgFill'])) return 'unknown';
  const fill = statedFill(shape, inherited, theme);
  const isEmpty = inherited !== undefined && !hasText(childOf(shape, 'p:txBody'));
  return isEmpty && fill !== 'none' ? 'unknown' : fill;
}

function statedFill(shape: XmlElement, inherited: InheritedPlace | undefined, theme: SlideTheme): Fill {
  const own = fillOf(childOf(shape, 'p:spPr'), theme.palette) ?? styledFill(shape, theme);
  if (own !== undefined) return own;
  for (const fill of inherited?.fills ?? []) {
    const paint = fillOf(fill, theme.palette);
    if (paint !== undefined) return paint;
  }
  return 'none';
}

const hasText = (body: XmlElement | undefined): boolean => {
  for (const paragraph of childrenOf(body, 'a:p'))
    for (const { name } of childrenOf(paragraph))
      if (name !== 'a:pPr' && name !== 'a:endParaRPr') return true;
  return false;
};

/** The fill that a shape takes from the theme by its number. */
function styledFill(shape: XmlElement, { palette, isPlainFill }: SlideTheme): Fill | undefined {
  const reference = descend(shape, 'p:style', 'a:fillRef');
  const index = wholeNumber(reference?.attributes['idx']) ?? 0;
  if (!reference || index === 0) return undefined;
  return isPlainFill(index) ? (colorIn(reference, palette) ?? 'unknown') : 'unknown';
}
