import type { Color } from '../../visibility/colors.js';
import type { Fill } from '../../visibility/layers.js';
import { childOf, childrenOf, isTrue, valueOf, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import type { WordColors } from './colors.js';

/** What a style, or the properties of a run, say of how text looks; undefined where they say nothing. */
export interface RunLook {
  readonly isVanished: boolean | undefined;
  readonly color: Color | 'auto' | undefined;
  readonly isTiny: boolean | undefined;
  /** Whether letters have a line or a shadow around them, so that their colour does not tell whether they are seen. */
  readonly isOutlined: boolean | undefined;
  readonly background: Fill | undefined;
}

export const PLAIN: RunLook = {
  isVanished: undefined,
  color: undefined,
  isTiny: undefined,
  isOutlined: undefined,
  background: undefined,
};

/** What the properties of a run, and those of its paragraph, say of its look. */
export function readLook(colors: WordColors, run: XmlElement | undefined, around?: XmlElement): RunLook {
  const vanish = valueOf(run, 'w:vanish');
  const size = wholeNumber(valueOf(run, 'w:sz'));
  const marked = colors.highlight(valueOf(run, 'w:highlight'));
  // What lies under a frame is not followed.
  const lower = childOf(around, 'w:framePr') ? 'unknown' : undefined;
  const shaded = over(
    colors.shading(childOf(run, 'w:shd')),
    colors.shading(childOf(around, 'w:shd')) ?? lower,
  );
  return {
    isVanished: vanish === undefined ? undefined : vanish === '' || isTrue(vanish),
    color: colors.text(childOf(run, 'w:color')),
    // In half points.
    isTiny: size === undefined ? undefined : size < 4,
    isOutlined: [...childrenOf(run)].some(({ name }) => OUTLINES.has(name)) || undefined,
    background: over(marked, shaded),
  };
}

const OUTLINES: ReadonlySet<string> = new Set(
  'w:outline w:shadow w:emboss w:imprint w14:textOutline w14:textFill w14:glow w14:shadow'.split(' '),
);

/** The upper fill; what says that there is none may be meant to undo the lower one. */
const over = (upper: Fill | undefined, lower: Fill | undefined): Fill | undefined =>
  upper === 'none' && lower !== undefined && lower !== 'none' ? 'unknown' : (upper ?? lower);

/** The upper look where it says something, else the lower one. */
export function underneath(upper: RunLook, lower: RunLook): RunLook {
  return {
    isVanished: upper.isVanished ?? lower.isVanished,
    color: upper.color ?? lower.color,
    isTiny: upper.isTiny ?? lower.isTiny,
    isOutlined: upper.isOutlined ?? lower.isOutlined,
    background: over(upper.background, lower.background),
  };
}
