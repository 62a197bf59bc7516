import type { Color } from '../../visibility/colors.js';
import {
  createLayers,
  touches,
  UNKNOWN_LAYER,
  type Box,
  type Fill,
  type Layer,
} from '../../visibility/layers.js';
import { colorIn, fillOf, type Palette } from '../drawing/colors.js';
import { childOf, childrenOf, descend, findAll, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import {
  boxOf,
  placeholderOf,
  rectangleOf,
  transformOf,
  type InheritedPlace,
  type Placeholder,
} from './placeholders.js';
import type { SlideTheme } from './slide-theme.js';

export interface LayerOptions {
  readonly theme: SlideTheme;
  /** The size of slides. */
  readonly size: Box | undefined;
  readonly inherited: (placeholder: Placeholder) => InheritedPlace;
  /** Whether nothing can be seen through a picture. */
  readonly isOpaquePicture: (picture: XmlElement) => boolean;
}

/** Tells what is behind and above the shapes of a slide. */
export interface SlideLayers {
  readonly palette: Palette;
  /** Whether no part of a shape is on the slide. */
  isOutside(shape: XmlElement): boolean;
  /** Whether a picture or another shape hides all of a shape. */
  isCovered(shape: XmlElement): boolean;
  /** The colour behind a shape; undefined when it is not known. */
  behind(shape: XmlElement): Color | undefined;
  /** The colour behind the text of a shape; undefined when it is not known. */
  behindText(shape: XmlElement): Color | undefined;
}

/** Makes another rectangle of that which an element states; undefined where the place of its group is not known. */
type Placing = ((box: Box) => Box) | undefined;

interface Collection {
  readonly options: LayerOptions;
  readonly layers: Layer[];
  readonly indexes: Map<XmlElement, number>;
  /** Shapes that an animation moves, shows or hides. */
  readonly animated: ReadonlySet<string>;
}

export function createSlideLayers(slide: XmlElement | undefined, options: LayerOptions): SlideLayers {
  const { theme, size } = options;
  const targets = [...findAll(childOf(slide, 'p:timing'), new Set(['p:spTgt']))];
  const animated = new Set(targets.map(({ attributes }) => attributes['spid'] ?? ''));
  const collection: Collection = { options, layers: [], indexes: new Map(), animated };
  for (const shape of theme.shapesBehind) addLayers(collection, shape, (box) => box);
  if (theme.hasMoreShapes) collection.layers.push(UNKNOWN_LAYER);
  for (const shape of childrenOf(descend(slide, 'p:cSld', 'p:spTree')))
    addLayers(collection, shape, (box) => box);
  const layers = createLayers(collection.layers, theme.background);
  const indexOf = (shape: XmlElement): number => collection.indexes.get(shape) ?? -1;
  const isStill = (shape: XmlElement): boolean => !animated.has(idOf(shape));
  return {
    palette: theme.palette,
    isOutside: (shape) => {
      const box = collection.layers[indexOf(shape)]?.box;
      return box !== undefined && size !== undefined && isStill(shape) && !touches(box, size);
    },
    isCovered: (shape) => isStill(shape) && layers.isCovered(indexOf(shape)),
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

function addLayers(collection: Collection, shape: XmlElement, placing: Placing): void {
  const { layers, indexes } = collection;
  if (shape.name === 'mc:AlternateContent') {
    for (const choice of childrenOf(childOf(shape, 'mc:Choice') ?? childOf(shape, 'mc:Fallback')))
      addLayers(collection, choice, placing);
  } else if (shape.name === 'p:grpSp') {
    const inner = placingIn(shape, placing);
    // What is within may be moved with its group.
    const isMoved = collection.animated.has(idOf(shape));
    for (const child of childrenOf(shape)) addLayers(collection, child, isMoved ? undefined : inner);
  } else if (['p:sp', 'p:pic', 'p:graphicFrame'].includes(shape.name)) {
    indexes.set(shape, layers.length);
    layers.push(layerOf(shape, collection, placing));
  }
}

/** Shapes of a group are in a system of coordinates of its own. */
function placingIn(group: XmlElement, outer: Placing): Placing {
  const transform = transformOf(group);
  const [own, inner] = [boxOf(group), rectangleOf(transform, ['a:chOff', 'a:chExt'])];
  if (!outer || !own || !inner || inner.width <= 0 || inner.height <= 0 || isTurned(transform))
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

const isTurned = (transform: XmlElement | undefined): boolean =>
  (wholeNumber(transform?.attributes['rot']) ?? 0) !== 0;

function layerOf(shape: XmlElement, { options, animated }: Collection, placing: Placing): Layer {
  const placeholder = placeholderOf(shape);
  const inherited = placeholder && options.inherited(placeholder);
  const stated = boxOf(shape) ?? inherited?.box;
  const turned = isTurned(transformOf(shape));
  const box = stated && placing?.(turned ? turnedBox(stated) : stated);
  const fill = shapeFill(shape, inherited, options.theme);
  const isWhole = !turned && isRectangle(shape) && !animated.has(idOf(shape));
  const isOpaque = shape.name === 'p:pic' ? isWhole && options.isOpaquePicture(shape) : isColor(fill);
  return { box, fill, isWhole, isOpaque };
}

const isColor = (fill: Fill): boolean => fill !== 'none' && fill !== 'unknown';

/** The square in which a rectangle can be turned. */
function turnedBox({ x, y, width, height }: Box): Box {
  const side = Math.hypot(width, height);
  return { x: x + (width - side) / 2, y: y + (height - side) / 2, width: side, height: side };
}

function isRectangle(shape: XmlElement): boolean {
  const properties = childOf(shape, 'p:spPr');
  if (childOf(properties, 'a:custGeom')) return false;
  const kind = childOf(properties, 'a:prstGeom')?.attributes['prst'];
  return kind === undefined || kind === 'rect';
}

function shapeFill(shape: XmlElement, inherited: InheritedPlace | undefined, theme: SlideTheme): Fill {
  if (shape.name !== 'p:sp') return 'unknown';
  const properties = childOf(shape, 'p:spPr');
  const own = fillOf(properties, theme.palette) ?? styledFill(shape, theme);
  if (own !== undefined) return own;
  for (const fill of inherited?.fills ?? []) {
    const paint = fillOf(fill, theme.palette);
    if (paint !== undefined) return paint;
  }
  return 'none';
}

/** The fill that a shape takes from the theme by its number. */
function styledFill(shape: XmlElement, { palette, isPlainFill }: SlideTheme): Fill | undefined {
  const reference = descend(shape, 'p:style', 'a:fillRef');
  const index = wholeNumber(reference?.attributes['idx']) ?? 0;
  if (!reference || index === 0) return undefined;
  return isPlainFill(index) ? (colorIn(reference, palette) ?? 'unknown') : 'unknown';
}
