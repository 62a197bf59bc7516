import type { OfficePackage } from '../package/office-package.js';
import { childOf, descend, findAll, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import type { Box } from './reading-order.js';

const SHAPES: ReadonlySet<string> = new Set(['p:sp', 'p:pic', 'p:graphicFrame']);
/** Most placeholders of a layout. */
const MOST_PLACES = 200;

export interface Placeholder {
  /** Such as `title`, `body` or `ftr`; `obj` without one. */
  readonly type: string;
  readonly index: string;
}

/** What a shape says of the place that it fills; undefined when it fills none. */
export function placeholderOf(shape: XmlElement): Placeholder | undefined {
  for (const properties of ['p:nvSpPr', 'p:nvGraphicFramePr', 'p:nvPicPr']) {
    const element = descend(shape, properties, 'p:nvPr', 'p:ph');
    if (element)
      return { type: element.attributes['type'] ?? 'obj', index: element.attributes['idx'] ?? '0' };
  }
  return undefined;
}

/** The place that a shape, group or frame states itself. */
export function boxOf(shape: XmlElement): Box | undefined {
  const transform =
    descend(shape, 'p:spPr', 'a:xfrm') ?? descend(shape, 'p:grpSpPr', 'a:xfrm') ?? childOf(shape, 'p:xfrm');
  const offset = childOf(transform, 'a:off')?.attributes;
  const extent = childOf(transform, 'a:ext')?.attributes;
  const [x, y] = [wholeNumber(offset?.['x']), wholeNumber(offset?.['y'])];
  const [width, height] = [wholeNumber(extent?.['cx']), wholeNumber(extent?.['cy'])];
  if (x === undefined || y === undefined || width === undefined || height === undefined) return undefined;
  return { x, y, width, height };
}

interface StatedPlace {
  readonly placeholder: Placeholder;
  readonly box: Box;
}

/** Finds the places of placeholders, which a slide takes from its layout, and a layout from its master. */
export function createPlaceholders(office: OfficePackage) {
  const read = new Map<string, readonly StatedPlace[]>();
  const placesIn = (part: string | undefined): readonly StatedPlace[] => {
    if (part === undefined) return [];
    const places = read.get(part) ?? statedPlaces(office.tree(part));
    read.set(part, places);
    return places;
  };
  return (slide: string) => {
    const layout = targetOf(office, slide, 'slideLayout');
    const inLayout = placesIn(layout);
    const inMaster = layout === undefined ? [] : placesIn(targetOf(office, layout, 'slideMaster'));
    return ({ type, index }: Placeholder): Box | undefined => {
      const found =
        inLayout.find(({ placeholder }) => placeholder.index === index && index !== '0') ??
        inLayout.find(({ placeholder }) => placeholder.type === type) ??
        inMaster.find(({ placeholder }) => placeholder.type === (type === 'obj' ? 'body' : type));
      return found?.box;
    };
  };
}

function statedPlaces(tree: XmlElement | undefined): readonly StatedPlace[] {
  const places: StatedPlace[] = [];
  for (const shape of findAll(tree, SHAPES)) {
    const placeholder = placeholderOf(shape);
    const box = boxOf(shape);
    if (placeholder && box && places.length < MOST_PLACES) places.push({ placeholder, box });
  }
  return places;
}

/** The part to which another refers by a relation of this type. */
export function targetOf(office: OfficePackage, part: string, type: string): string | undefined {
  return office.relations(part).find((relation) => relation.type === type)?.target;
}
