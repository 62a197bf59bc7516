import type { Box, Fill, Layer } from '../../visibility/layers.js';
import type { Attributes } from '../../xml/read-markup.js';
import type { Styles } from '../styles.js';

/** Shapes that are lines, which cover nothing. */
const LINES: ReadonlySet<string> = new Set(['draw:line', 'draw:connector', 'draw:polyline', 'draw:measure']);
/** Shapes that fill the whole rectangle that they state. */
const RECTANGLES: ReadonlySet<string> = new Set(['draw:frame', 'draw:rect']);
const OTHERS =
  'draw:custom-shape draw:ellipse draw:circle draw:polygon draw:path draw:regular-polygon draw:caption draw:control';
const SHAPES: ReadonlySet<string> = new Set([...LINES, ...RECTANGLES, ...OTHERS.split(' ')]);

/** Whether an element is a shape, which may lie on anything. */
export const isShape = (name: string): boolean => SHAPES.has(name);

/** What a shape says of its fill. In LibreOffice one that says nothing has the fill of a standard style. */
export function shapeFill(styles: Styles, attributes: Attributes): Fill {
  const name = attributes['draw:style-name'] ?? attributes['presentation:style-name'];
  const family = attributes['draw:style-name'] === undefined ? 'presentation' : 'graphic';
  const { fill, background } = styles.look(family, name);
  return fill ?? background ?? 'unknown';
}

export function shapeLayer(name: string, attributes: Attributes, styles: Styles): Layer {
  const isMoved = attributes['draw:transform'] !== undefined;
  const fill = LINES.has(name) ? 'none' : shapeFill(styles, attributes);
  const isWhole = RECTANGLES.has(name) && !isMoved;
  const isColor = fill !== 'none' && fill !== 'unknown';
  return { box: isMoved ? undefined : boxOf(attributes), fill, isWhole, isOpaque: isWhole && isColor };
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

/** Millimetres. */
const UNITS: Readonly<Record<string, number>> = {
  mm: 1,
  cm: 10,
  in: 25.4,
  pt: 25.4 / 72,
  pc: 25.4 / 6,
  px: 25.4 / 96,
};

/** A length in millimetres. */
export function lengthOf(text: string | undefined): number | undefined {
  const [, number, unit = ''] = /^(-?(?:\d+(?:\.\d*)?|\.\d+))(mm|cm|in|pt|pc|px)$/.exec(text ?? '') ?? [];
  return number === undefined ? undefined : Number(number) * (UNITS[unit] ?? 1);
}
