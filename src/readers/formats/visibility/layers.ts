import type { Rectangle } from '../../blocks/location.js';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import type { Color } from './colors.js';

/** A rectangle, in any units. */
export type Box = Rectangle;

/** The fill of a shape: a colour, nothing, or something whose colour is not known. */
export type Fill = Color | 'none' | 'unknown';

/** The colour of a fill; undefined where it has none, or it is not known. */
export const colorOfFill = (fill: Fill | undefined): Color | undefined =>
  fill === 'none' || fill === 'unknown' ? undefined : fill;

/** Something drawn on a page or slide. */
export interface Layer {
  /** The box that it is drawn in; undefined where that is not known, so that it may be anywhere. */
  readonly box: Box | undefined;
  /** The area where its text may be; its box by default. */
  readonly reach?: Box | undefined;
  /** The fill behind its own text. */
  readonly fill: Fill;
  /** True if it fills the whole rectangle. */
  readonly isWhole: boolean;
  /** True if nothing is seen through it. */
  readonly isOpaque: boolean;
}

/** Stands for shapes that are not looked at. */
export const UNKNOWN_LAYER: Layer = { box: undefined, fill: 'unknown', isWhole: false, isOpaque: false };

/**
 * The greatest number of layers, over all pages of a file, that are looked at to find the colours and shapes behind and
 * above texts.
 */
const MAX_COMPARISONS = 10_000_000;

/** The remaining comparisons of layers of one file. */
export interface Comparisons {
  /** Takes one comparison; false when all are used up. */
  take(): boolean;
}

/** Beyond the bound text counts as visible, which the receipt says once. */
export function createComparisons(receipt: ReceiptWriter): Comparisons {
  let left = MAX_COMPARISONS;
  return {
    take() {
      left -= 1;
      if (left === -1)
        receipt.addGap('limit', 'Not all shapes were compared to find hidden text, since they are too many.');
      return left >= 0;
    },
  };
}

interface LayerOptions {
  /** The colour of the page; undefined when it is not known. */
  readonly background: Color | undefined;
  readonly comparisons: Comparisons;
}

/**
 * Tells the colours and layers behind and above the layers of one page, the lowest first. A colour is behind a text when
 * everything that may be there has it, down to the page or to a layer that is behind all of the text. A layer without a
 * known place may be anywhere.
 */
export function createLayers(layers: readonly Layer[], { background, comparisons }: LayerOptions) {
  const reachOf = (index: number): Box | undefined => layers[index]?.reach ?? layers[index]?.box;
  /** @param top the uppermost layer that may be behind */
  const colorBehind = (box: Box | undefined, top: number): Color | undefined => {
    let color: Color | undefined;
    for (let under = top; under >= 0; under -= 1) {
      if (!comparisons.take()) return undefined;
      const layer = layers[under];
      if (!layer || layer.fill === 'none' || isApart(layer.box, box)) continue;
      if (layer.fill === 'unknown' || (color !== undefined && color !== layer.fill)) return undefined;
      color = layer.fill;
      if (layer.isWhole && isWithin(layer.box, box)) return color;
    }
    return color === undefined || color === background ? background : undefined;
  };
  return {
    /** The colour behind a layer; undefined when it is not known. */
    behind: (index: number): Color | undefined =>
      index < 0 ? undefined : colorBehind(reachOf(index), index - 1),
    /** The colour behind the text of a layer; undefined when it is not known. */
    behindText: (index: number): Color | undefined =>
      index < 0 ? undefined : colorBehind(reachOf(index), index),
    /** Tells whether another layer hides the whole of this one. */
    isCovered(index: number): boolean {
      const box = reachOf(index);
      if (!box) return false;
      for (let above = index + 1; above < layers.length; above += 1) {
        if (!comparisons.take()) return false;
        const layer = layers[above];
        if (layer?.isOpaque === true && layer.isWhole && isWithin(layer.box, box)) return true;
      }
      return false;
    },
  };
}

const isApart = (left: Box | undefined, right: Box | undefined): boolean =>
  left !== undefined && right !== undefined && !touches(left, right);

const isWithin = (outer: Box | undefined, inner: Box | undefined): boolean =>
  outer !== undefined && inner !== undefined && contains(outer, inner);

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
