import type { OfficePackage } from '../package/office-package.js';
import { childOf, descend, findAll, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import type { Box } from './reading-order.js';

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

/** Finds the places of placeholders, which a slide takes from its layout, and a layout from its master. */
export function createPlaceholders(office: OfficePackage) {
  const read = new Map<string, readonly { placeholder: Placeholder; box: Box }[]>();
  const placesIn = (part: string) => {
    const known = read.get(part);
    if (known) return known;
    const places = [...findAll(office.tree(part), new Set(['p:sp', 'p:pic', 'p:graphicFrame']))].flatMap(
      (shape) => {
        const placeholder = placeholderOf(shape);
        const box = boxOf(shape);
        return placeholder && box ? [{ placeholder, box }] : [];
      },
    );
    read.set(part, places);
    return places;
  };
  return function inheritedBox(slide: string, { type, index }: Placeholder): Box | undefined {
    const layout = targetOf(office, slide, 'slideLayout');
    const master = layout === undefined ? undefined : targetOf(office, layout, 'slideMaster');
    const inLayout = layout === undefined ? [] : placesIn(layout);
    const inMaster = master === undefined ? [] : placesIn(master);
    const found =
      inLayout.find(({ placeholder }) => placeholder.index === index && index !== '0') ??
      inLayout.find(({ placeholder }) => placeholder.type === type) ??
      inMaster.find(({ placeholder }) => placeholder.type === (type === 'obj' ? 'body' : type));
    return found?.box;
  };
}

/** The part to which another refers by a relation of this type. */
export function targetOf(office: OfficePackage, part: string, type: string): string | undefined {
  return office.relations(part).find((relation) => relation.type === type)?.target;
}
