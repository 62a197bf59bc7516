import type { Box } from '../../visibility/layers.js';
import { childOf, childrenOf, findAll, isTrue, textOf, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';

/** Units of the file (EMU) in a hundredth of a point, in which sizes of letters are. */
const UNIT = 127;
/** The usual distances between the sides of a shape and its text, in units of the file. */
const INSETS = { lIns: 91_440, rIns: 91_440, tIns: 45_720, bIns: 45_720 } as const;
/** Lines with the space before and after them are hardly higher than this many times their letters. */
const LINE_SPACING = 2;
const SIZED: ReadonlySet<string> = new Set(['a:rPr', 'a:defRPr', 'a:endParaRPr']);
const TEXT: ReadonlySet<string> = new Set(['a:t', 'm:t']);

interface ReachOptions {
  /** The attributes of the text body, together with the layout's. */
  readonly attributes: XmlElement['attributes'];
  /** The size of letters that say nothing, in hundredths of a point. */
  readonly usualSize: number;
  readonly isTurned: boolean;
}

/**
 * Returns the area where the text of a shape may be: the box of the shape if there is room for it, else also beyond its
 * sides. This is an upper bound, with letters as wide as they are high.
 */
export function textReach(body: XmlElement | undefined, box: Box, options: ReachOptions): Box {
  if (!body) return box;
  const { attributes, isTurned } = options;
  const lines = linesOf(body);
  const { size, letter, margin, outdent } = measureOf(body, options.usualSize);
  const insets = Object.entries(INSETS).map(([name, usual]) => wholeNumber(attributes[name]) ?? usual);
  const [left = 0, right = 0, top = 0, bottom = 0] = insets;
  const beyond = outdent + Math.max(0, ...insets.map((inset) => -inset));
  const height = size * LINE_SPACING;
  if (isTurned || isDirected(body, attributes)) {
    const letters = lines.reduce((sum, length) => sum + length, 0);
    return grown(box, beyond + letters * letter, beyond + letters * letter + lines.length * height);
  }
  const room = box.width - left - right - margin;
  const perLine = Math.max(1, Math.floor(room / letter));
  const count = lines.reduce((sum, length) => sum + Math.max(1, Math.ceil(length / perLine)), 0);
  const across = room < letter ? letter + Math.max(0, -room) : 0;
  const down = Math.max(0, count * height - (box.height - top - bottom));
  return grown(box, beyond + across, beyond + down);
}

/** Tells whether lines do not run from side to side of the shape. */
function isDirected(body: XmlElement, attributes: XmlElement['attributes']): boolean {
  const { wrap = 'square', vert = 'horz', rot = '0', numCol = '1' } = attributes;
  const isWarped = childOf(childOf(body, 'a:bodyPr'), 'a:prstTxWarp') !== undefined;
  const isUpright = isTrue(attributes['upright']);
  return wrap === 'none' || vert !== 'horz' || rot !== '0' || numCol !== '1' || isWarped || isUpright;
}

/** Returns the number of letters in each line that the text itself begins. */
function linesOf(body: XmlElement): number[] {
  const lines: number[] = [];
  for (const paragraph of childrenOf(body, 'a:p')) {
    let letters = 0;
    for (const child of childrenOf(paragraph)) {
      if (child.name === 'a:br') {
        lines.push(letters);
        letters = 0;
      }
      for (const text of findAll(child, TEXT)) letters += textOf(text).length;
    }
    lines.push(letters);
  }
  return lines;
}

/** The height and width of the largest letters, and how far paragraphs are moved at most, in units of the file. */
function measureOf(body: XmlElement, usualSize: number) {
  let [size, spacing, margin, outdent] = [usualSize, 0, 0, 0];
  for (const { attributes } of findAll(body, SIZED)) {
    size = Math.max(size, wholeNumber(attributes['sz']) ?? 0);
    spacing = Math.max(spacing, wholeNumber(attributes['spc']) ?? 0);
  }
  for (const paragraph of childrenOf(body, 'a:p')) {
    const { marL, marR, indent } = childOf(paragraph, 'a:pPr')?.attributes ?? {};
    const [left, right] = [wholeNumber(marL) ?? 0, wholeNumber(marR) ?? 0];
    const first = wholeNumber(indent) ?? 0;
    margin = Math.max(margin, left + right + Math.max(0, first));
    outdent = Math.max(outdent, -left, -right, -(left + first));
  }
  return { size: size * UNIT, letter: (size + spacing) * UNIT, margin, outdent };
}

const grown = ({ x, y, width, height }: Box, across: number, down: number): Box => ({
  x: x - across,
  y: y - down,
  width: width + 2 * across,
  height: height + 2 * down,
});
