import { WHITE, type Color } from '../../visibility/colors.js';
import type { Box, Layer } from '../../visibility/layers.js';
import { createPictureOpacity, MAX_PICTURE_BYTES } from '../../visibility/picture-opacity.js';
import { scanMarkup, type Attributes } from '../../xml/read-markup.js';
import type { Zip } from '../../zip/zip.js';
import { readMasterPages, type MasterPage } from './master-pages.js';
import { isShape, shapeLayer } from './shape-layers.js';
import type { Styles } from '../styles.js';

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
        slide.ids.push(attributes['xml:id'] ?? attributes['draw:id'] ?? '');
        count += 1;
      }
      if (/^draw:(?:image|object|plugin|applet)/.test(name))
        fillLast(slide, name === 'draw:image' && isOpaque(attributes['xlink:href'] ?? ''));
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
  const master = masters.get(attributes['draw:master-page-name'] ?? '');
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
