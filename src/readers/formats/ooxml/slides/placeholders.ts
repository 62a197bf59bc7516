import type { OfficePackage } from '../package/office-package.js';
import { childOf, childrenOf, descend, findAll, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import { isDrawnOtherwise, isPlainlyFilled, isRectangle } from './shape-properties.js';
import type { Box } from '../../visibility/layers.js';

/** Shapes that are drawn by themselves, unlike groups and lines. */
export const SHAPES: ReadonlySet<string> = new Set(['p:sp', 'p:pic', 'p:graphicFrame']);
const DEFAULTS: ReadonlySet<string> = new Set(['a:defRPr']);
/** Most placeholders of a layout. */
const MAX_PLACES = 200;

export interface Placeholder {
  /** The type, such as `title`, `body` or `ftr`; `obj` without one. */
  readonly type: string;
  readonly index: string;
}

/** Returns the placeholder that a shape fills; undefined when it fills none. */
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
  return rectangleOf(transformOf(shape), ['a:off', 'a:ext']);
}

/** Returns the properties by which a shape, group or frame is moved, sized and turned. */
export const transformOf = (shape: XmlElement): XmlElement | undefined =>
  descend(shape, 'p:spPr', 'a:xfrm') ?? descend(shape, 'p:grpSpPr', 'a:xfrm') ?? childOf(shape, 'p:xfrm');

/** Returns the rectangle of two elements: the first has the place, the second the size. */
export function rectangleOf(
  transform: XmlElement | undefined,
  [place, size]: readonly [place: string, size: string],
): Box | undefined {
  const offset = childOf(transform, place)?.attributes;
  const extent = childOf(transform, size)?.attributes;
  const [x, y] = [wholeNumber(offset?.['x']), wholeNumber(offset?.['y'])];
  const [width, height] = [wholeNumber(extent?.['cx']), wholeNumber(extent?.['cy'])];
  if (x === undefined || y === undefined || width === undefined || height === undefined) return undefined;
  return { x, y, width, height };
}

interface StatedPlace {
  readonly placeholder: Placeholder;
  readonly box: Box | undefined;
  /** An element with the fill that its properties state. */
  readonly fill: XmlElement;
  /** True if the shape and its text are rectangles without effects. */
  readonly isPlain: boolean;
  readonly bodyAttributes: XmlElement['attributes'];
}

/** The properties that a placeholder of a slide takes from its layout, and a layout from its master. */
export interface InheritedPlace {
  readonly box: Box | undefined;
  /** The properties of the fill that its parents state, the nearest first. */
  readonly fills: readonly XmlElement[];
  /** True if they and their text are rectangles without effects. */
  readonly isPlain: boolean;
  /** The attributes that they state for the body of their text. */
  readonly bodyAttributes: XmlElement['attributes'];
}

/** Finds the places of placeholders in layouts and masters. */
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
    return ({ type, index }: Placeholder): InheritedPlace => {
      const found = [
        ...inLayout.filter(({ placeholder }) => placeholder.index === index && index !== '0'),
        ...inLayout.filter(({ placeholder }) => placeholder.type === type),
        ...inMaster.filter(({ placeholder }) => placeholder.type === (type === 'obj' ? 'body' : type)),
      ];
      return {
        box: found.find(({ box }) => box !== undefined)?.box,
        fills: found.map(({ fill }) => fill),
        isPlain: found.every(({ isPlain }) => isPlain),
        bodyAttributes: found.reduceRight(
          (outer, { bodyAttributes }) => ({ ...outer, ...bodyAttributes }),
          {},
        ),
      };
    };
  };
}

function statedPlaces(tree: XmlElement | undefined): readonly StatedPlace[] {
  const places: StatedPlace[] = [];
  // Any of the styles of a master may hold for a text.
  const isPlainText = [...findAll(tree, DEFAULTS)].every((defaults) => !isDrawnOtherwise(defaults));
  for (const shape of findAll(tree, SHAPES)) {
    const placeholder = placeholderOf(shape);
    if (!placeholder || places.length >= MAX_PLACES) continue;
    const properties = childOf(shape, 'p:spPr');
    places.push({
      placeholder,
      box: boxOf(shape),
      fill: fillsOf(properties),
      isPlain: isPlainText && isRectangle(properties) && isPlainlyFilled(properties),
      bodyAttributes: descend(shape, 'p:txBody', 'a:bodyPr')?.attributes ?? {},
    });
  }
  return places;
}

/** Keeps the small part of the properties that is needed, since all layouts stay in memory. */
const fillsOf = (properties: XmlElement | undefined): XmlElement => ({
  name: 'a:fill',
  attributes: {},
  children: [...childrenOf(properties)].filter(({ name }) => name.endsWith('Fill')),
});

/** Returns the part to which another part refers by a relation of this type. */
export function targetOf(office: OfficePackage, part: string, type: string): string | undefined {
  return office.relations(part).find((relation) => relation.type === type)?.target;
}
