import type { Block, Place } from '../../../extraction/block.js';
import { tableBlocks } from '../../table.js';
import { createUnmerge } from '../drawing/merged-cells.js';
import type { createGraphics } from '../drawing/graphic.js';
import { readTextBody } from '../drawing/text-body.js';
import type { GapCounter } from '../gap-counter.js';
import { childOf, childrenOf, descend, findFirst, isTrue, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import { boxOf, placeholderOf, type Placeholder } from './placeholders.js';
import { inReadingOrder, type Box } from './reading-order.js';

export interface SlideContext {
  readonly gaps: GapCounter;
  readonly place: Place;
  readonly size: Box | undefined;
  readonly graphicsOf: ReturnType<typeof createGraphics>;
  readonly inheritedBox: (placeholder: Placeholder) => Box | undefined;
  /** Whether a line at the foot or head of slides is read, which is so when it stands there for the first time. */
  readonly isNewFurniture: (text: string) => boolean;
}

interface Shape {
  readonly isTitle: boolean;
  readonly box: Box | undefined;
  readonly blocks: readonly Block[];
}

const TITLES: ReadonlySet<string> = new Set(['title', 'ctrTitle']);
const FURNITURE: ReadonlySet<string> = new Set(['dt', 'ftr', 'hdr']);
const LISTS: ReadonlySet<string> = new Set(['obj', 'body']);
/** Hundredths of a point. */
const LEAST_SIZE = 200;

/** The blocks of the shapes of a slide: titles first, then the others as they are read. */
export function slideBlocks(shapes: XmlElement | undefined, context: SlideContext): Block[] {
  const found = readShapes(shapes, context, context.size);
  const titles = found.filter(({ isTitle }) => isTitle);
  const others = inReadingOrder(found.filter(({ isTitle }) => !isTitle));
  return [...titles, ...others].flatMap(({ blocks }) => blocks);
}

/** Shapes that hold something. @param bounds what they must touch to be seen; undefined within a group */
function readShapes(parent: XmlElement | undefined, context: SlideContext, bounds: Box | undefined): Shape[] {
  const shapes: Shape[] = [];
  for (const element of childrenOf(parent)) {
    if (element.name === 'mc:AlternateContent') {
      shapes.push(
        ...readShapes(childOf(element, 'mc:Choice') ?? childOf(element, 'mc:Fallback'), context, bounds),
      );
      continue;
    }
    const placeholder = placeholderOf(element);
    const box = boxOf(element) ?? (placeholder && context.inheritedBox(placeholder));
    const blocks = shapeBlocks(element, placeholder, context);
    if (blocks.length === 0) continue;
    if (isHidden(element) && !context.gaps.admits('shape')) continue;
    if (bounds && box && !touches(box, bounds) && !context.gaps.admits('outside')) continue;
    shapes.push({ isTitle: placeholder !== undefined && TITLES.has(placeholder.type), box, blocks });
  }
  return shapes;
}

function isHidden(shape: XmlElement): boolean {
  for (const properties of childrenOf(shape))
    if (isTrue(childOf(properties, 'p:cNvPr')?.attributes['hidden'])) return true;
  return false;
}

const touches = (box: Box, bounds: Box): boolean =>
  box.x < bounds.width && box.y < bounds.height && box.x + box.width > 0 && box.y + box.height > 0;

function shapeBlocks(
  shape: XmlElement,
  placeholder: Placeholder | undefined,
  context: SlideContext,
): readonly Block[] {
  switch (shape.name) {
    case 'p:sp':
      return textBlocks(shape, placeholder, context);
    case 'p:grpSp':
      return inReadingOrder(readShapes(shape, context, undefined)).flatMap(({ blocks }) => blocks);
    case 'p:graphicFrame':
      return frameBlocks(shape, context);
    case 'p:pic':
      context.gaps.skip(isMedia(shape) ? 'media' : 'picture');
      return [];
    default:
      return [];
  }
}

const isMedia = (picture: XmlElement): boolean =>
  findFirst(picture, 'a:videoFile') !== undefined || findFirst(picture, 'a:audioFile') !== undefined;

function textBlocks(
  shape: XmlElement,
  placeholder: Placeholder | undefined,
  { gaps, place, isNewFurniture }: SlideContext,
): Block[] {
  const { type = '' } = placeholder ?? {};
  const body = childOf(shape, 'p:txBody');
  if (!body || type === 'sldNum') return [];
  const isList = LISTS.has(type) && [...childrenOf(body, 'a:p')].length > 1;
  const lines = readTextBody(body, { isList, admits: (run, text) => isReadable(gaps, run, text) });
  if (lines.length === 0 || (FURNITURE.has(type) && !isNewFurniture(lines.join('\n')))) return [];
  if (TITLES.has(type)) return [{ text: `${lines.join(' ').replace(/\s+/g, ' ')}\n\n`, heading: 2, place }];
  return [{ text: `${lines.join('\n')}\n\n`, place }];
}

function isReadable(gaps: GapCounter, properties: XmlElement | undefined, text: string): boolean {
  const size = wholeNumber(properties?.attributes['sz']);
  return size === undefined || size >= LEAST_SIZE || gaps.admits('tiny', { amount: text.length });
}

function frameBlocks(frame: XmlElement, context: SlideContext): readonly Block[] {
  const data = descend(frame, 'a:graphic', 'a:graphicData');
  const table = childOf(data, 'a:tbl');
  if (table) return [...tableBlocks(readTable(table, context))];
  const isObject = data?.attributes['uri']?.endsWith('/ole') === true;
  if (isObject) context.gaps.skip('object');
  return [...context.graphicsOf(frame, context.place)];
}

function* readTable(table: XmlElement, { gaps, place }: SlideContext) {
  const unmerge = createUnmerge();
  const admits = (run: XmlElement | undefined, text: string): boolean => isReadable(gaps, run, text);
  for (const row of childrenOf(table, 'a:tr')) {
    const cells = [...childrenOf(row, 'a:tc')].filter(({ attributes }) => !isTrue(attributes['hMerge']));
    yield {
      cells: unmerge(
        cells.map((cell) => ({
          text: readTextBody(childOf(cell, 'a:txBody'), { admits }).join('\n'),
          span: Math.max(1, wholeNumber(cell.attributes['gridSpan'], 1_000) ?? 1),
          isContinued: isTrue(cell.attributes['vMerge']),
        })),
      ),
      place,
    };
  }
}
