import { attribute } from '../../xml/read-markup.js';
import type { Color } from '../../visibility/colors.js';
import {
  createLayers,
  UNKNOWN_LAYER,
  type Box,
  type Comparisons,
  type Layer,
  type Fill,
} from '../../visibility/layers.js';
import type { RunStyle } from '../../visibility/reason-unseen.js';
import { colorIn, fillOf, type Palette } from '../drawing/colors.js';
import {
  wholeNumberOrZero,
  childOf,
  childrenOf,
  descend,
  findAll,
  wholeNumber,
  isTrue,
  textOf,
} from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import {
  boxOf,
  placeholderOf,
  rectangleOf,
  SHAPES,
  transformOf,
  type InheritedPlace,
  type Placeholder,
} from './placeholders.js';
import { isHidden, isRectangle, isPlainlyFilled } from './shape-properties.js';
import type { SlideTheme } from './slide-theme.js';

export interface LayerOptions {
  readonly theme: SlideTheme;
  /** The size of slides. */
  readonly size: Box | undefined;
  readonly inherited: (placeholder: Placeholder) => InheritedPlace;
  /** Tells whether nothing can be seen through a picture. */
  readonly isOpaquePicture: (picture: XmlElement) => boolean;
  /** The size of letters that say nothing, in hundredths of a point. */
  readonly usualSize: number;
  readonly comparisons: Comparisons;
}

/** Tells the colours and shapes behind and above the shapes of a slide. */
export interface SlideLayers {
  readonly palette: Palette;
  /** The style of a shape, for the judge of what is seen. */
  styleOf(shape: XmlElement): RunStyle;
  /** The colour behind a shape; undefined when it is not known. */
  behind(shape: XmlElement): Color | undefined;
  /** The colour behind the text of a shape; undefined when it is not known. */
  behindText(shape: XmlElement): Color | undefined;
}

/** Places the rectangle that an element states; undefined where the place of its group is not known. */
type Placing = ((box: Box) => Box) | undefined;

interface Collection {
  readonly options: LayerOptions;
  readonly layers: Layer[];
  readonly indexes: Map<XmlElement, number>;
  /** Shapes that an animation moves, shows or hides. */
  readonly animated: ReadonlySet<string>;
}

export function createSlideLayers(slide: XmlElement | undefined, options: LayerOptions): SlideLayers {
  const { theme, size, comparisons } = options;
  const targets = [...findAll(childOf(slide, 'p:timing'), new Set(['p:spTgt']))];
  const animated = new Set(targets.map(({ attributes }) => attribute(attributes, 'spid')));
  const collection: Collection = { options, layers: [], indexes: new Map(), animated };
  for (const shape of theme.shapesBehind) addLayers(collection, shape, (box) => box);
  if (theme.hasMoreShapes) collection.layers.push(UNKNOWN_LAYER);
  for (const shape of childrenOf(descend(slide, 'p:cSld', 'p:spTree')))
    addLayers(collection, shape, (box) => box);
  const layers = createLayers(collection.layers, { background: theme.background, comparisons });
  const indexOf = (shape: XmlElement): number => collection.indexes.get(shape) ?? -1;
  const isStill = (shape: XmlElement): boolean => !animated.has(idOf(shape));
  return {
    palette: theme.palette,
    styleOf: (shape) => ({
      off: isHidden(shape) ? 'off' : undefined,
      box: isStill(shape) ? collection.layers[indexOf(shape)]?.reach : undefined,
      page: size,
      isCovered: () => isStill(shape) && layers.isCovered(indexOf(shape)),
    }),
    behind: (shape) => layers.behind(indexOf(shape)),
    behindText: (shape) => layers.behindText(indexOf(shape)),
  };
}

const idOf = (shape: XmlElement): string => {
  for (const properties of childrenOf(shape)) {
    const id = childOf(properties, 'p:cNvPr')?.attributes['id'];
    if (id !== undefined) return id;
  }
  return '';
};

/** Elements of a tree of shapes that nobody sees. A line is no ground unless it is thick; any other element is unknown. */
const NOT_DRAWN: ReadonlySet<string> = new Set(['p:nvGrpSpPr', 'p:grpSpPr', 'p:extLst']);

function addLayers(collection: Collection, shape: XmlElement, placing: Placing): void {
  const { layers, indexes, options } = collection;
  if (NOT_DRAWN.has(shape.name) || isHidden(shape)) return;
  if (shape.name === 'mc:AlternateContent') {
    for (const choice of childrenOf(childOf(shape, 'mc:Choice') ?? childOf(shape, 'mc:Fallback')))
      addLayers(collection, choice, placing);
  } else if (shape.name === 'p:grpSp') {
    const inner = placingIn(shape, placing);
    // The shapes within may be moved with their group.
    const isMoved = collection.animated.has(idOf(shape));
    for (const child of childrenOf(shape)) addLayers(collection, child, isMoved ? undefined : inner);
  } else if (SHAPES.has(shape.name)) {
    indexes.set(shape, layers.length);
    layers.push(layerOf(shape, collection, placing));
  } else if (shape.name !== 'p:cxnSp' || !isFollowed(shape, undefined, options.theme))
    layers.push(UNKNOWN_LAYER);
}

/** Shapes of a group are in a system of coordinates of its own. */
function placingIn(group: XmlElement, outer: Placing): Placing {
  const transform = transformOf(group);
  const [own, inner] = [boxOf(group), rectangleOf(transform, ['a:chOff', 'a:chExt'])];
  if (!outer || !own || !inner || inner.width <= 0 || inner.height <= 0 || hasTurn(transform))
    return undefined;
  const [across, down] = [own.width / inner.width, own.height / inner.height];
  return (box) =>
    outer({
      x: own.x + (box.x - inner.x) * across,
      y: own.y + (box.y - inner.y) * down,
      width: box.width * across,
      height: box.height * down,
    });
}

const hasTurn = (transform: XmlElement | undefined): boolean =>
  wholeNumberOrZero(transform?.attributes['rot']) !== 0;

/** Returns the layer of a shape. A shape that is not followed may be drawn anywhere, and is not known to cover anything. */
function layerOf(shape: XmlElement, { options, animated }: Collection, placing: Placing): Layer {
  const { theme, inherited: inheritedAt } = options;
  const placeholder = placeholderOf(shape);
  const inherited = placeholder && inheritedAt(placeholder);
  const stated = boxOf(shape) ?? inherited?.box;
  const isTurned = hasTurn(transformOf(shape));
  const box = stated && placing?.(isTurned ? turnedBox(stated) : stated);
  const reach = box && reachOf(shape, box, { inherited, isTurned, usualSize: options.usualSize });
  if (animated.has(idOf(shape)) || !isFollowed(shape, inherited, theme)) return { ...UNKNOWN_LAYER, reach };
  const isWhole = !isTurned && isRectangle(childOf(shape, 'p:spPr'));
  if (shape.name === 'p:pic')
    return { box, reach, fill: 'unknown', isWhole, isOpaque: isWhole && options.isOpaquePicture(shape) };
  const fill = shapeFill(shape, inherited, theme);
  return {
    box: tableOf(shape) ? reach : box,
    reach,
    fill,
    isWhole,
    isOpaque: fill !== 'none' && fill !== 'unknown',
  };
}

/** The square in which a rectangle can be turned. */
function turnedBox({ x, y, width, height }: Box): Box {
  const side = Math.hypot(width, height);
  return { x: x + (width - side) / 2, y: y + (height - side) / 2, width: side, height: side };
}

interface ReachOptions extends Pick<LayerOptions, 'usualSize'> {
  readonly inherited: InheritedPlace | undefined;
  readonly isTurned: boolean;
}

/** The size of letters in places of a layout, whose styles are not followed, in hundredths of a point. */
const PLACEHOLDER_SIZE = 6_000;

function reachOf(shape: XmlElement, box: Box, { inherited, isTurned, usualSize }: ReachOptions): Box {
  const table = tableOf(shape);
  if (table) return tableReach(table, box);
  const body = childOf(shape, 'p:txBody');
  return textReach(body, box, {
    attributes: { ...inherited?.bodyAttributes, ...childOf(body, 'a:bodyPr')?.attributes },
    usualSize: inherited ? Math.max(usualSize, PLACEHOLDER_SIZE) : usualSize,
    isTurned,
  });
}

const tableOf = (shape: XmlElement): XmlElement | undefined =>
  descend(shape, 'a:graphic', 'a:graphicData', 'a:tbl');

/** Rows of a table grow downwards with their texts. */
function tableReach(table: XmlElement, box: Box): Box {
  let width = 0;
  for (const { attributes } of childrenOf(childOf(table, 'a:tblGrid')))
    width += wholeNumberOrZero(attributes['w']);
  return { ...box, width: Math.max(box.width, width), height: Infinity };
}

/**
 * Tells whether a shape is drawn as its box and its fill say. Where it has effects, a thick line or anything else that is
 * not followed, nobody knows what it covers and how far it reaches.
 */
function isFollowed(shape: XmlElement, inherited: InheritedPlace | undefined, theme: SlideTheme): boolean {
  const properties = childOf(shape, 'p:spPr');
  if (!isPlainlyFilled(properties) || inherited?.isPlain === false) return false;
  const numberOf = (name: string): number =>
    wholeNumber(descend(shape, 'p:style', name)?.attributes['idx'] ?? '0') ?? Infinity;
  const line = childOf(properties, 'a:ln');
  const isOwnLine = line?.attributes['w'] !== undefined || childOf(line, 'a:noFill') !== undefined;
  const hasOwnEffects = childOf(properties, 'a:effectLst') !== undefined;
  return (
    (isOwnLine || theme.isThinLine(numberOf('a:lnRef'))) && (hasOwnEffects || numberOf('a:effectRef') === 0)
  );
}

/** Returns the fill of a shape. Empty placeholders for text are not drawn when slides are shown, whatever fills them. */
function shapeFill(shape: XmlElement, inherited: InheritedPlace | undefined, theme: SlideTheme): Fill {
  if (shape.name !== 'p:sp' || isTrue(shape.attributes['useBgFill'])) return 'unknown';
  const fill = statedFill(shape, inherited, theme);
  const isEmpty = inherited !== undefined && !hasText(childOf(shape, 'p:txBody'));
  return isEmpty && fill !== 'none' ? 'unknown' : fill;
}

function statedFill(shape: XmlElement, inherited: InheritedPlace | undefined, theme: SlideTheme): Fill {
  const own = fillOf(childOf(shape, 'p:spPr'), theme.palette) ?? styledFill(shape, theme);
  if (own !== undefined) return own;
  for (const fill of inherited?.fills ?? []) {
    const paint = fillOf(fill, theme.palette);
    if (paint !== undefined) return paint;
  }
  return 'none';
}

const hasText = (body: XmlElement | undefined): boolean => {
  for (const paragraph of childrenOf(body, 'a:p'))
    for (const { name } of childrenOf(paragraph))
      if (name !== 'a:pPr' && name !== 'a:endParaRPr') return true;
  return false;
};

/** The fill that a shape takes from the theme by its number. */
function styledFill(shape: XmlElement, { palette, isPlainFill }: SlideTheme): Fill | undefined {
  const reference = descend(shape, 'p:style', 'a:fillRef');
  const index = wholeNumberOrZero(reference?.attributes['idx']);
  if (!reference || index === 0) return undefined;
  return isPlainFill(index) ? (colorIn(reference, palette) ?? 'unknown') : 'unknown';
}

/** Units of the file (EMU) in a hundredth of a point, in which sizes of letters are. */
const UNIT = 127;
/** The usual distances between the sides of a shape and its text, in units of the file. */
const INSETS = { lIns: 91_440, rIns: 91_440, tIns: 45_720, bIns: 45_720 } as const;
/** Lines with the space before and after them are hardly higher than this many times their letters. */
const LINE_SPACING = 2;
const SIZED: ReadonlySet<string> = new Set(['a:rPr', 'a:defRPr', 'a:endParaRPr']);
const TEXT: ReadonlySet<string> = new Set(['a:t', 'm:t']);

interface TextReachOptions extends Omit<ReachOptions, 'inherited'> {
  /** The attributes of the text body, together with the layout's. */
  readonly attributes: XmlElement['attributes'];
}

/**
 * Returns the area where the text of a shape may be: the box of the shape if there is room for it, else also beyond its
 * sides. This is an upper bound, with letters as wide as they are high.
 */
function textReach(body: XmlElement | undefined, box: Box, options: TextReachOptions): Box {
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
    size = Math.max(size, wholeNumberOrZero(attributes['sz']));
    spacing = Math.max(spacing, wholeNumberOrZero(attributes['spc']));
  }
  for (const paragraph of childrenOf(body, 'a:p')) {
    const { marL, marR, indent } = childOf(paragraph, 'a:pPr')?.attributes ?? {};
    const [left, right] = [wholeNumberOrZero(marL), wholeNumberOrZero(marR)];
    const first = wholeNumberOrZero(indent);
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
