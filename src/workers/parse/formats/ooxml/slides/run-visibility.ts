import { areAlike, type Color } from '../../visibility/colors.js';
import { colorIn, fillOf, type Paint, type Palette } from '../drawing/colors.js';
import type { RunFilter } from '../drawing/text-body.js';
import type { GapCounter } from '../gap-counter.js';
import { childOf, childrenOf, descend, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';

/** Hundredths of a point. */
const LEAST_SIZE = 200;

interface TextPlace {
  readonly gaps: GapCounter;
  readonly palette: Palette;
  /** The colour behind the text; undefined when it is not known. */
  readonly behind: Color | undefined;
  /** The body of the text, which may say how its levels look. */
  readonly body: XmlElement | undefined;
  /** What a shape says of the colour of its text by the style that it takes from the theme. */
  readonly font?: XmlElement | undefined;
}

/** Decides which runs of a body of text are read: not those too small, or of the colour that is behind them. */
export function createRunFilter({ gaps, palette, behind, body, font }: TextPlace): RunFilter {
  const styles = childOf(body, 'a:lstStyle');
  const fontColor = colorIn(font, palette);
  return (properties, text, level) => {
    const defaults = descend(styles, `a:lvl${String(level + 1)}pPr`, 'a:defRPr');
    const size = wholeNumber(properties?.attributes['sz'] ?? defaults?.attributes['sz']);
    if (size !== undefined && size < LEAST_SIZE) return gaps.admits('tiny', { amount: text.length });
    if (isDrawnOtherwise(properties) || isDrawnOtherwise(defaults)) return true;
    const color = fillOf(properties, palette) ?? fillOf(defaults, palette) ?? fontColor;
    const ground = groundOf(properties, palette) ?? behind;
    return !isUnseen(color, ground) || gaps.admits('background', { amount: text.length });
  };
}

/** Whether more than a fill makes letters seen: a line around them, a shadow, or the colour of a link. */
const isDrawnOtherwise = (properties: XmlElement | undefined): boolean =>
  [...childrenOf(properties)].some(
    (child) =>
      child.name === 'a:hlinkClick' ||
      (child.name === 'a:ln' && childOf(child, 'a:noFill') === undefined) ||
      (/^a:effect(?:Lst|Dag)$/.test(child.name) && child.children.length > 0),
  );

/** The colour that a run is marked with. */
function groundOf(properties: XmlElement | undefined, palette: Palette): Paint | undefined {
  const highlight = childOf(properties, 'a:highlight');
  return highlight && (colorIn(highlight, palette) ?? 'unknown');
}

function isUnseen(color: Paint | undefined, ground: Paint | undefined): boolean {
  if (color === 'none') return true;
  if (color === undefined || color === 'unknown') return false;
  if (ground === undefined || ground === 'unknown' || ground === 'none') return false;
  return areAlike(color, ground);
}
