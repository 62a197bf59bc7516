import { lookUp } from '../../../../shared/at.js';
import type { Shift } from '../../baseline/shift.js';
import type { Color } from '../../visibility/colors.js';
import { colorOfFill, type Fill } from '../../visibility/layers.js';
import type { RunStyle } from '../../visibility/reason-unseen.js';
import { childOf, childrenOf, isTrue, valueOf, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import type { WordColors } from './colors.js';

/** The look of text that a style, or the properties of a run, state; a property is undefined where they state none. */
export interface RunLook {
  readonly isVanished: boolean | undefined;
  readonly color: Color | 'auto' | undefined;
  /** The fill of its letters, which comes before its colour. */
  readonly fill: Fill | undefined;
  /** True if letters have a line or a shadow around them, so that their colour does not tell whether they are seen. */
  readonly isOutlined: boolean | undefined;
  readonly background: Fill | undefined;
  /** The shift of text above or below the line. */
  readonly shift: Shift | 'none' | undefined;
  /** In half points. */
  readonly size: number | undefined;
  /** The distance by which text is moved above the line, in half points. */
  readonly position: number | undefined;
  /** The font of ASCII, and the font of the characters beyond it; empty for one of the theme. */
  readonly asciiFont: string | undefined;
  readonly otherFont: string | undefined;
}

/** Returns the look that the properties of a run and of its paragraph state. */
export function readLook(colors: WordColors, run: XmlElement | undefined, around?: XmlElement): RunLook {
  const size = wholeNumber(valueOf(run, 'w:sz'));
  const marked = colors.highlight(valueOf(run, 'w:highlight'));
  // The ground under a frame is not followed.
  const lower = childOf(around, 'w:framePr') ? 'unknown' : undefined;
  const shaded = over(
    colors.shading(childOf(run, 'w:shd')),
    colors.shading(childOf(around, 'w:shd')) ?? lower,
  );
  return {
    isVanished: isVanished(run),
    color: colors.text(childOf(run, 'w:color')),
    fill: colors.fill(childOf(run, 'w14:textFill')),
    isOutlined: [...childrenOf(run)].some(isOutline) || undefined,
    background: over(marked, shaded),
    shift: lookUp(ALIGNED, valueOf(run, 'w:vertAlign')),
    size,
    position: wholeNumber(valueOf(run, 'w:position')),
    asciiFont: fontOf(run, 'ascii'),
    otherFont: fontOf(run, 'hAnsi'),
  };
}

/** Tells whether properties of a run hide it; undefined where they do not say. */
export function isVanished(run: XmlElement | undefined): boolean | undefined {
  const vanish = valueOf(run, 'w:vanish');
  return vanish === undefined ? undefined : vanish === '' || isTrue(vanish);
}

const ALIGNED: ReadonlyMap<string, RunLook['shift']> = new Map([
  ['superscript', 'raised'],
  ['subscript', 'lowered'],
  ['baseline', 'none'],
]);

const OUTLINES: ReadonlySet<string> = new Set(
  'w:outline w:shadow w:emboss w:imprint w14:textOutline w14:glow w14:shadow'.split(' '),
);

const isOutline = (property: XmlElement): boolean =>
  OUTLINES.has(property.name) &&
  isTrue(property.attributes['w:val'] ?? '1') &&
  childOf(property, 'w14:noFill') === undefined;

/** Returns the upper fill. The statement that there is none may be meant to undo the lower one. */
const over = (upper: Fill | undefined, lower: Fill | undefined): Fill | undefined =>
  upper === 'none' && lower !== undefined && lower !== 'none' ? 'unknown' : (upper ?? lower);

/** The font of some characters. Fonts of a theme are for text, and take precedence (ECMA-376 part 1, 17.3.2.26). */
function fontOf(run: XmlElement | undefined, characters: 'ascii' | 'hAnsi'): string | undefined {
  const fonts = childOf(run, 'w:rFonts')?.attributes;
  return fonts?.[`w:${characters}Theme`] === undefined ? fonts?.[`w:${characters}`] : '';
}

/** The upper look where it says something, else the lower one. */
export function underneath(upper: RunLook, lower: RunLook): RunLook {
  return {
    isVanished: upper.isVanished ?? lower.isVanished,
    color: upper.color ?? lower.color,
    fill: upper.fill ?? lower.fill,
    isOutlined: upper.isOutlined ?? lower.isOutlined,
    background: over(upper.background, lower.background),
    shift: upper.shift ?? lower.shift,
    size: upper.size ?? lower.size,
    position: upper.position ?? lower.position,
    asciiFont: upper.asciiFont ?? lower.asciiFont,
    otherFont: upper.otherFont ?? lower.otherFont,
  };
}

const knownColor = (color: RunLook['color']): Color | undefined => (color === 'auto' ? undefined : color);

/** The style of text, for the judge of what is seen. @param ground the fill behind it where it has no background of its own */
export function styleOf(
  { isVanished, size, color, fill, isOutlined, background = 'none' }: RunLook,
  ground: Fill,
): RunStyle {
  return {
    off: isVanished === true ? 'off' : undefined,
    size: size === undefined ? undefined : size / 2,
    opacity: fill === 'none' && isOutlined !== true ? 0 : undefined,
    color: isOutlined === true ? undefined : fill === undefined ? knownColor(color) : colorOfFill(fill),
    behind: () => colorOfFill(background === 'none' ? ground : background),
  };
}

/** The least move of text that is raised or lowered, and not only set a little higher, as a share of its size. */
const MIN_MOVE = 0.2;

const outerShift = ({ shift }: RunLook): RunLook['shift'] => shift ?? 'none';

/** Returns how text is shifted: by its alignment, or because it is moved and smaller than the text around it. */
export function shiftOf(look: RunLook, around: RunLook): Shift | undefined {
  // A paragraph that is raised as a whole stands above nothing.
  if (look.shift !== undefined && look.shift !== outerShift(around))
    return look.shift === 'none' ? undefined : look.shift;
  const { size, position = 0 } = look;
  const isSmall = size !== undefined && around.size !== undefined && size < around.size;
  if (!isSmall || Math.abs(position) < MIN_MOVE * size) return undefined;
  return position > 0 ? 'raised' : 'lowered';
}
