import { areAlike, type Color } from './colors.js';
import type { Unseen } from './hidden-counter.js';
import { touches, type Box } from './layers.js';

/** Nobody reads letters of a smaller size, in points. */
export const MIN_SIZE = 2;
/** The greatest opacity, from 0 to 1, of text that nobody sees: black on white then differs about as much as alike colours. */
export const MAX_UNSEEN_OPACITY = 0.05;

/** The style of a run of text, or of a shape, that decides whether it is seen. A reader leaves out the properties that it does not know. */
export interface RunStyle {
  /** The reason that the format states for the run, or for all around it. */
  readonly off?: Unseen | undefined;
  /** The area where it may be, and its page, in one unit. */
  readonly box?: Box | undefined;
  readonly page?: Box | undefined;
  /** Tells whether something lies over all of it. */
  readonly isCovered?: (() => boolean) | undefined;
  /** In points. */
  readonly size?: number | undefined;
  /** From 0, which is transparent, to 1. */
  readonly opacity?: number | undefined;
  /** True if it is out of sight for people whom a program reads it aloud. */
  readonly isReadAloud?: boolean | undefined;
  /** The colour of its letters, unless more than that makes them seen, such as a shadow. */
  readonly color?: Color | undefined;
  /** The colour behind it; undefined when it is not known. */
  readonly behind?: (() => Color | undefined) | undefined;
  /** Tells whether it may stand on something else than what is behind it. It is asked last. */
  readonly isElsewhere?: (() => boolean) | undefined;
}

/** Returns the reason why nobody sees a run, or a shape, of a style; undefined when it is seen, or that cannot be told. */
export function reasonUnseen(style: RunStyle): Unseen | undefined {
  const { off, box, page, size = MIN_SIZE, opacity = 1, color } = style;
  if (off !== undefined) return off;
  if (box && page && !touches(box, page)) return 'outside';
  if (style.isCovered?.() === true) return 'covered';
  if (size < MIN_SIZE) return 'tiny';
  if (opacity <= MAX_UNSEEN_OPACITY) return 'transparent';
  if (style.isReadAloud === true) return 'aloud';
  if (color === undefined) return undefined;
  const behind = style.behind?.();
  const isAlike = behind !== undefined && areAlike(color, behind);
  return isAlike && style.isElsewhere?.() !== true ? 'background' : undefined;
}
