import { UNKNOWN_LAYER, type Box, type Fill, type Layer } from '../../visibility/layers.js';
import { scanMarkup, type Attributes, type MarkupHandler } from '../../xml/read-markup.js';
import type { Zip } from '../../zip/zip.js';
import { lengthOf } from '../lengths.js';
import { isShape, shapeLayer, sizedBox } from './shape-layers.js';
import type { Styles } from '../styles.js';

/** The number of shapes of a master page that are compared with the shapes of each slide. */
const MAX_SHAPES = 200;

/** The properties that slides take from their master page. */
export interface MasterPage {
  readonly fill: Fill | undefined;
  readonly size: Box | undefined;
  /** The shapes that are drawn behind the shapes of slides. */
  readonly layers: Layer[];
}

/** Reads the master pages of a presentation by their names. */
export function readMasterPages(zip: Zip, styles: Styles): ReadonlyMap<string, MasterPage> {
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
    if (length < MAX_SHAPES) page.layers.push(shapeLayer(name, attributes, styles));
    else if (length === MAX_SHAPES) page.layers.push(UNKNOWN_LAYER);
  };
  return {
    open: (name, attributes) => {
      if (name === 'style:page-layout') layout = attributes['style:name'] ?? '';
      else if (name === 'style:page-layout-properties')
        sizes.set(
          layout,
          sizedBox([0, 0], [lengthOf(attributes['fo:page-width']), lengthOf(attributes['fo:page-height'])]),
        );
      else if (name === 'presentation:notes') notes += 1;
      else if (name === 'style:master-page') {
        const { fill } = styles.look('drawing-page', attributes['draw:style-name']);
        page = { fill, size: sizes.get(attributes['style:page-layout-name'] ?? ''), layers: [] };
        pages.set(attributes['style:name'] ?? '', page);
      } else addShape(name, attributes);
    },
    close: (name) => {
      if (name === 'presentation:notes') notes -= 1;
      if (name === 'style:master-page') page = undefined;
    },
    text: () => undefined,
  };
}
