import { UNKNOWN_LAYER, type Box, type Fill, type Layer } from '../../visibility/layers.js';
import { attribute, type Attributes } from '../../xml/read-markup.js';
import { lengthOf } from '../lengths.js';
import type { StyleLook, Styles } from '../styles.js';

/** Shapes that are lines, which cover nothing. */
const LINES: ReadonlySet<string> = new Set(['draw:line', 'draw:connector', 'draw:polyline', 'draw:measure']);
/** Shapes that fill the whole rectangle that they state. */
const RECTANGLES: ReadonlySet<string> = new Set(['draw:frame', 'draw:rect']);
const OTHERS =
  'draw:custom-shape draw:ellipse draw:circle draw:polygon draw:path draw:regular-polygon draw:caption draw:control';
const SHAPES: ReadonlySet<string> = new Set([...LINES, ...RECTANGLES, ...OTHERS.split(' ')]);

/** Tells whether an element is a shape, which may lie on anything. */
export const isShape = (name: string): boolean => SHAPES.has(name);

/** Returns the fill that a shape states. In LibreOffice a shape that states none has the fill of a standard style. */
export function shapeFill(styles: Styles, attributes: Attributes): Fill {
  const { fill, background } = lookOf(styles, attributes);
  return fill ?? background ?? 'unknown';
}

function lookOf(styles: Styles, attributes: Attributes): StyleLook {
  const name = attributes['draw:style-name'] ?? attributes['presentation:style-name'];
  return styles.look(attributes['draw:style-name'] === undefined ? 'presentation' : 'graphic', name);
}

/**
 * Returns the layer of a shape. A shape with effects, with a thick line, or that is not always displayed may be drawn
 * anywhere, and covers nothing for sure.
 */
export function shapeLayer(name: string, attributes: Attributes, styles: Styles): Layer {
  const isMoved = attributes['draw:transform'] !== undefined;
  const box = isMoved ? undefined : boxOf(attributes);
  const display = attributes['draw:display'] ?? attributes['drawooo:display'] ?? 'always';
  const isDisplayed = display === 'always' && !styles.hidesLayer(attribute(attributes, 'draw:layer'));
  if (lookOf(styles, attributes).hasEffects === true || !isDisplayed) return { ...UNKNOWN_LAYER, reach: box };
  const fill = LINES.has(name) ? 'none' : shapeFill(styles, attributes);
  const isWhole = RECTANGLES.has(name) && !isMoved;
  const isColor = fill !== 'none' && fill !== 'unknown';
  return { box, fill, isWhole, isOpaque: isWhole && isColor };
}

function boxOf(attributes: Attributes): Box | undefined {
  const [x, y] = [lengthOf(attributes['svg:x']), lengthOf(attributes['svg:y'])];
  return sizedBox([x, y], [lengthOf(attributes['svg:width']), lengthOf(attributes['svg:height'])]);
}

type Pair = readonly [number | undefined, number | undefined];

/** A rectangle of its place and its size; undefined where a number is missing. */
export function sizedBox([x, y]: Pair, [width, height]: Pair): Box | undefined {
  if (x === undefined || y === undefined || width === undefined || height === undefined) return undefined;
  return { x, y, width, height };
}
