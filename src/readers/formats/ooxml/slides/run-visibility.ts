import { areAlike, type Color } from '../../visibility/colors.js';
import { colorIn, fillOf, type Paint, type Palette } from '../drawing/colors.js';
import type { RunFilter } from '../drawing/text-body.js';
import type { GapCounter } from '../gap-counter.js';
import { childOf, childrenOf, descend, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';

/** Hundredths of a point. */
const MIN_SIZE = 200;

interface TextPlace {
  readonly gaps: GapCounter;
  readonly palette: Palette;
  /** The colour behind the text; undefined when it is not known. */
  readonly behind: () => Color | undefined;
  /** The body of the text, which may say how its levels look. */
  readonly body: XmlElement | undefined;
  /** The colour of its text that a shape states by the style that it takes from the theme. */
  readonly font?: XmlElement | undefined;
}

/** Decides which runs of a body of text are read: not runs that are too small, or of the colour that is behind them. */
export function createRunFilter({ gaps, palette, behind, body, font }: TextPlace): RunFilter {
  const styles = childOf(body, 'a:lstStyle');
  const fontColor = colorIn(font, palette);
  const isSolid = [...childrenOf(childOf(body, 'a:bodyPr'))].some(({ name }) => !FLAT.has(name));
  // The search for the colour behind takes longer than all else.
  let found: { readonly color: Color | undefined } | undefined;
  const colorBehind = (): Color | undefined => (found ??= { color: behind() }).color;
  return (properties, text, level) => {
    const defaults = descend(styles, `a:lvl${String(level + 1)}pPr`, 'a:defRPr');
    const size = wholeNumber(properties?.attributes['sz'] ?? defaults?.attributes['sz']);
    if (size !== undefined && size < MIN_SIZE) return gaps.admits('tiny', { amount: text.length });
    if (isSolid || isDrawnOtherwise(properties) || isDrawnOtherwise(defaults)) return true;
    const color = fillOf(properties, palette) ?? fillOf(defaults, palette) ?? fontColor;
    if (color === undefined || color === 'unknown') return true;
    const isUnseen =
      color === 'none' || isAlike(color, groundOf(properties, palette) ?? colorBehind() ?? 'unknown');
    return !isUnseen || gaps.admits('background', { amount: text.length });
  };
}

/** Properties of a body that give its letters no depth. */
const FLAT: ReadonlySet<string> = new Set(
  'a:noAutofit a:normAutofit a:spAutoFit a:prstTxWarp a:extLst'.split(' '),
);
/** Properties of a run that do not make letters seen which have the colour of their background. */
const PLAIN: ReadonlySet<string> = new Set(
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
      !PLAIN.has(child.name) &&
      (child.name !== 'a:ln' || childOf(child, 'a:noFill') === undefined) &&
      (child.name !== 'a:effectLst' || child.children.length > 0),
  );

/** The colour that a run is marked with. */
function groundOf(properties: XmlElement | undefined, palette: Palette): Paint | undefined {
  const highlight = childOf(properties, 'a:highlight');
  return highlight && (colorIn(highlight, palette) ?? 'unknown');
}

const isAlike = (color: Color, ground: Paint): boolean =>
  ground !== 'unknown' && ground !== 'none' && areAlike(color, ground);
