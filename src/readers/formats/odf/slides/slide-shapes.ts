import { lookUp } from '../../../../shared/at.js';
import { WHITE, type Color } from '../../visibility/colors.js';
import { UNKNOWN_LAYER, type Box, type Layer, type Fill } from '../../visibility/layers.js';
import { createPictureOpacity, MAX_PICTURE_BYTES } from '../../visibility/picture-opacity.js';
import { attribute, scanMarkup, type Attributes, type MarkupHandler } from '../../xml/read-markup.js';
import type { Zip } from '../../zip/zip.js';
import { isShape, shapeLayer, sizedBox } from './shape-layers.js';
import type { Styles } from '../styles.js';
import { lengthOf } from '../lengths.js';

/** Most shapes of a presentation that are compared, and of a slide. */
const MAX_SHAPES = 200_000;
const MAX_SHAPES_OF_A_SLIDE = 2_001;

/** The shapes of a slide in the order in which they are drawn. */
export interface SlideShapes {
  readonly layers: Layer[];
  /** The names by which animations call the shapes, in the same order. */
  readonly ids: string[];
  /** The shapes of the master page. */
  readonly behind: readonly Layer[];
  readonly background: Color | undefined;
  readonly size: Box | undefined;
  /** Shapes that an animation moves, shows or hides. */
  readonly animated: Set<string>;
}

/** Looks through all slides before they are read, since the shape that covers a text is drawn after it. */
export function scanSlides(zip: Zip, styles: Styles): readonly SlideShapes[] {
  const slides: SlideShapes[] = [];
  const masters = readMasterPages(zip, styles);
  const isOpaque = createPictureOpacity((name) => zip.read(name, MAX_PICTURE_BYTES));
  const walk = createShapeWalk();
  let count = 0;
  scanMarkup(zip.pieces('content.xml'), {
    open: (name, attributes) => {
      styles.open(name, attributes);
      if (name === 'draw:page') slides.push(newSlide(attributes, styles, masters));
      const slide = slides.at(-1);
      if (!slide) return;
      const target = attributes['smil:targetElement'];
      if (target !== undefined) slide.animated.add(target);
      if (walk.open(name) && slide.layers.length < MAX_SHAPES_OF_A_SLIDE && count < MAX_SHAPES) {
        slide.layers.push(shapeLayer(name, attributes, styles));
        slide.ids.push(attribute(attributes, 'xml:id', 'draw:id'));
        count += 1;
      }
      if (/^draw:(?:image|object|plugin|applet)/.test(name))
        fillLast(slide, name === 'draw:image' && isOpaque(attribute(attributes, 'xlink:href')));
    },
    close: (name) => {
      styles.close(name);
      walk.close(name);
    },
    text: () => undefined,
  });
  return slides;
}

/** Tells of the elements of slides whether they are shapes, and not of the notes. */
export function createShapeWalk() {
  let notes = 0;
  return {
    open(name: string): boolean {
      if (name === 'presentation:notes') notes += 1;
      return notes === 0 && isShape(name);
    },
    /** Tells whether a shape ends. */
    close(name: string): boolean {
      if (name === 'presentation:notes') notes -= 1;
      return notes === 0 && isShape(name);
    },
  };
}

function newSlide(
  attributes: Attributes,
  styles: Styles,
  masters: ReadonlyMap<string, MasterPage>,
): SlideShapes {
  const { fill } = styles.look('drawing-page', attributes['draw:style-name']);
  const master = lookUp(masters, attributes['draw:master-page-name']);
  const own = fill === undefined || fill === 'none' ? (master?.fill ?? 'none') : fill;
  const background = own === 'none' ? WHITE : own === 'unknown' ? undefined : own;
  const behind = master?.layers ?? [];
  return { layers: [], ids: [], behind, background, size: master?.size, animated: new Set() };
}

/** A frame with a picture or an object is not of one colour. */
function fillLast({ layers }: SlideShapes, isOpaque: boolean): void {
  const last = layers.pop();
  if (last) layers.push({ ...last, fill: 'unknown', isOpaque });
}

/** The number of shapes of a master page that are compared with the shapes of each slide. */
const MAX_MASTER_SHAPES = 200;

/** The properties that slides take from their master page. */
interface MasterPage {
  readonly fill: Fill | undefined;
  readonly size: Box | undefined;
  /** The shapes that are drawn behind the shapes of slides. */
  readonly layers: Layer[];
}

/** Reads the master pages of a presentation by their names. */
function readMasterPages(zip: Zip, styles: Styles): ReadonlyMap<string, MasterPage> {
  const pages = new Map<string, MasterPage>();
  if (zip.has('styles.xml')) scanMarkup(zip.pieces('styles.xml'), createMasterEvents(pages, styles));
  return pages;
}

function createMasterEvents(pages: Map<string, MasterPage>, styles: Styles): MarkupHandler {
  const sizes = new Map<string, Box | undefined>();
  let layout = '';
  let page: MasterPage | undefined;
  let notes = 0;
  const addShape = (name: string, attributes: Attributes): void => {
    // Places for the content of slides are not drawn.
    if (!page || notes > 0 || !isShape(name) || attributes['presentation:class'] !== undefined) return;
    const { length } = page.layers;
    if (length < MAX_MASTER_SHAPES) page.layers.push(shapeLayer(name, attributes, styles));
    else if (length === MAX_MASTER_SHAPES) page.layers.push(UNKNOWN_LAYER);
  };
  return {
    open: (name, attributes) => {
      if (name === 'style:page-layout') layout = attribute(attributes, 'style:name');
      else if (name === 'style:page-layout-properties')
        sizes.set(
          layout,
          sizedBox([0, 0], [lengthOf(attributes['fo:page-width']), lengthOf(attributes['fo:page-height'])]),
        );
      else if (name === 'presentation:notes') notes += 1;
      else if (name === 'style:master-page') {
        const { fill } = styles.look('drawing-page', attributes['draw:style-name']);
        page = { fill, size: lookUp(sizes, attributes['style:page-layout-name']), layers: [] };
        pages.set(attribute(attributes, 'style:name'), page);
      } else addShape(name, attributes);
    },
    close: (name) => {
      if (name === 'presentation:notes') notes -= 1;
      if (name === 'style:master-page') page = undefined;
    },
    text: () => undefined,
  };
}
