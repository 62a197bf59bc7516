import type { Color } from './colors.js';

/** A rectangle, in any units. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** What fills a shape: a colour, nothing, or something whose colour is not known. */
export type Fill = Color | 'none' | 'unknown';

/** Something drawn on a page or slide. */
export interface Layer {
  /** Undefined where its place is not known. */
  readonly box: Box | undefined;
  /** What is behind its own text. */
  readonly fill: Fill;
  /** Whether it fills the whole rectangle. */
  readonly isWhole: boolean;
  /** Whether nothing is seen through it. */
  readonly isOpaque: boolean;
}

/** Stands for shapes that are not looked at. */
export const UNKNOWN_LAYER: Layer = { box: undefined, fill: 'unknown', isWhole: false, isOpaque: false };

/** More layers are not compared with each other. */
const MOST_COMPARED = 2_000;

/** Tells what is behind and above the layers of one page, the lowest first. @param background that of the page */
export function createLayers(layers: readonly Layer[], background: Color | undefined) {
  const isComparable = layers.length <= MOST_COMPARED;
  const behind = (index: number): Color | undefined => {
    const box = layers[index]?.box;
    if (!isComparable || index < 0) return undefined;
    for (let under = index - 1; under >= 0; under -= 1) {
      const layer = layers[under];
      if (!layer || layer.fill === 'none') continue;
      if (!box || !layer.box) return undefined;
      if (!touches(box, layer.box)) continue;
      return layer.isWhole && layer.fill !== 'unknown' && contains(layer.box, box) ? layer.fill : undefined;
    }
    return background;
  };
  return {
    /** The colour behind a layer; undefined when it is not known. */
    behind,
    /** The colour behind the text of a layer; undefined when it is not known. */
    behindText(index: number): Color | undefined {
      const fill = layers[index]?.fill ?? 'unknown';
      if (fill === 'none') return behind(index);
      return fill === 'unknown' ? undefined : fill;
    },
    /** Whether another layer hides the whole of this one. */
    isCovered(index: number): boolean {
      const box = layers[index]?.box;
      if (!box || !isComparable) return false;
      return layers
        .slice(index + 1)
        .some((above) => above.isOpaque && above.isWhole && above.box && contains(above.box, box));
    },
  };
}

export const touches = (left: Box, right: Box): boolean =>
  left.x < right.x + right.width &&
  right.x < left.x + left.width &&
  left.y < right.y + right.height &&
  right.y < left.y + left.height;

const contains = (outer: Box, inner: Box): boolean =>
  outer.x <= inner.x &&
  outer.y <= inner.y &&
  outer.x + outer.width >= inner.x + inner.width &&
  outer.y + outer.height >= inner.y + inner.height;
