import { at } from '../../../../shared/at.js';
import type { Block, Place } from '../../../blocks/block.js';
import { collapseBlanks } from '../../../blocks/one-line.js';
import { tableBlocks } from '../../tables/table-blocks.js';
import type { Color } from '../../visibility/colors.js';
import { colorOfFill, type Box, type Fill } from '../../visibility/layers.js';
import { reasonUnseen } from '../../visibility/reason-unseen.js';
import { colorIn, fillOf, type Palette } from '../drawing/colors.js';
import type { createGraphics } from '../drawing/graphic.js';
import { createUnmerge } from '../drawing/merged-cells.js';
import { readTextBody, type RunFilter } from '../drawing/text-body.js';
import type { GapCounter } from '../gap-counter.js';
import { childOf, childrenOf, descend, isTrue, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import { boxOf, placeholderOf, type InheritedPlace, type Placeholder } from './placeholders.js';
import { isDrawnOtherwise, isMedia } from './shape-properties.js';
import type { SlideLayers } from './slide-layers.js';

export interface SlideContext {
  readonly gaps: GapCounter;
  readonly place: Place;
  readonly layers: SlideLayers;
  readonly graphicsOf: ReturnType<typeof createGraphics>;
  readonly inherited: (placeholder: Placeholder) => InheritedPlace;
  /** Tells whether a line at the foot or head of slides is read, as it is when it stands there for the first time. */
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

/** The blocks of the shapes of a slide: titles first, then the others as they are read. */
export function slideBlocks(shapes: XmlElement | undefined, context: SlideContext): Block[] {
  const found = readShapes(shapes, context);
  const titles = found.filter(({ isTitle }) => isTitle);
  const others = orderShapes(found.filter(({ isTitle }) => !isTitle));
  return [...titles, ...others].flatMap(({ blocks }) => blocks);
}

/** Shapes that hold something. */
function readShapes(parent: XmlElement | undefined, context: SlideContext): Shape[] {
  const shapes: Shape[] = [];
  for (const element of childrenOf(parent)) {
    if (element.name === 'mc:AlternateContent') {
      const chosen = readShapes(childOf(element, 'mc:Choice') ?? childOf(element, 'mc:Fallback'), context);
      for (const shape of chosen) shapes.push(shape);
      continue;
    }
    const placeholder = placeholderOf(element);
    const box = boxOf(element) ?? (placeholder && context.inherited(placeholder).box);
    const blocks = shapeBlocks(element, placeholder, context);
    if (blocks.length === 0) continue;
    const reason = reasonUnseen(context.layers.styleOf(element));
    if (reason !== undefined && !context.gaps.hidden.accepts(reason)) continue;
    shapes.push({ isTitle: placeholder !== undefined && TITLES.has(placeholder.type), box, blocks });
  }
  return shapes;
}

function shapeBlocks(
  shape: XmlElement,
  placeholder: Placeholder | undefined,
  context: SlideContext,
): readonly Block[] {
  switch (shape.name) {
    case 'p:sp':
      return textBlocks(shape, placeholder, context);
    case 'p:grpSp':
      return orderShapes(readShapes(shape, context)).flatMap(({ blocks }) => blocks);
    case 'p:graphicFrame':
      return frameBlocks(shape, context);
    case 'p:pic':
      context.gaps.skip(isMedia(shape) ? 'media' : 'picture');
      return [];
    default:
      return [];
  }
}

function textBlocks(
  shape: XmlElement,
  placeholder: Placeholder | undefined,
  { gaps, place, layers, isNewFurniture }: SlideContext,
): Block[] {
  const { type = '' } = placeholder ?? {};
  const body = childOf(shape, 'p:txBody');
  if (!body || type === 'sldNum') return [];
  const isList = LISTS.has(type) && [...childrenOf(body, 'a:p')].length > 1;
  const admits = createRunFilter({
    gaps,
    palette: layers.palette,
    behind: () => layers.behindText(shape),
    body,
    font: descend(shape, 'p:style', 'a:fontRef'),
  });
  const lines = readTextBody(body, { isList, admits, signs: gaps.signs });
  if (lines.length === 0 || (FURNITURE.has(type) && !isNewFurniture(lines.join('\n')))) return [];
  if (TITLES.has(type)) return [{ text: `${collapseBlanks(lines.join(' '))}\n\n`, heading: 2, place }];
  return [{ text: `${lines.join('\n')}\n\n`, place }];
}

function frameBlocks(frame: XmlElement, context: SlideContext): readonly Block[] {
  const data = descend(frame, 'a:graphic', 'a:graphicData');
  const table = childOf(data, 'a:tbl');
  if (table) return [...tableBlocks(readTable(table, frame, context))];
  const isObject = data?.attributes['uri']?.endsWith('/ole') === true;
  if (isObject) context.gaps.skip('object');
  return [...context.graphicsOf(frame, context.place)];
}

function* readTable(table: XmlElement, frame: XmlElement, { gaps, place, layers }: SlideContext) {
  const admitsCovered = (text: string): boolean => gaps.hidden.accepts('merged', { text });
  const unmerge = createUnmerge(admitsCovered);
  const { palette } = layers;
  // A style of tables may fill any of its cells, as may other properties for all of them.
  const properties = childOf(table, 'a:tblPr');
  const isStyled = [...childrenOf(properties)].length > 0;
  const textOfCell = (cell: XmlElement): string => {
    const body = childOf(cell, 'a:txBody');
    const fill = fillOf(childOf(cell, 'a:tcPr'), palette) ?? (isStyled ? 'unknown' : 'none');
    const behind = (): Color | undefined => (fill === 'none' ? layers.behind(frame) : colorOfFill(fill));
    const admits = createRunFilter({ gaps, palette, behind, body });
    return readTextBody(body, { admits, signs: gaps.signs }).join('\n');
  };
  for (const row of childrenOf(table, 'a:tr')) {
    const cells = [...childrenOf(row, 'a:tc')];
    const isBeside = ({ attributes }: XmlElement): boolean => isTrue(attributes['hMerge']);
    const shown = unmerge(
      cells
        .filter((cell) => !isBeside(cell))
        .map((cell) => ({
          text: textOfCell(cell),
          span: Math.max(1, wholeNumber(cell.attributes['gridSpan'], 1_000) ?? 1),
          isContinued: isTrue(cell.attributes['vMerge']),
        })),
    );
    const covered = cells
      .filter(isBeside)
      .map(textOfCell)
      .filter((text) => text !== '' && admitsCovered(text));
    yield { cells: [...shown, ...covered], place };
  }
}

interface TextPlace {
  readonly gaps: GapCounter;
  readonly palette: Palette;
  /** The colour behind the text; undefined when it is not known. */
  readonly behind: () => Color | undefined;
  /** The body of the text, which may say how its levels look. */
  readonly body: XmlElement | undefined;
  /** The colour of its text that a shape states by the style that it takes from the theme. */
  readonly font?: XmlElement | undefined;
}

/** Decides which runs of a body of text are read: not runs that are too small, or of the colour that is behind them. */
function createRunFilter({ gaps, palette, behind, body, font }: TextPlace): RunFilter {
  const styles = childOf(body, 'a:lstStyle');
  const fontColor = colorIn(font, palette);
  const isSolid = [...childrenOf(childOf(body, 'a:bodyPr'))].some(({ name }) => !FLAT.has(name));
  // The search for the colour behind takes longer than all else.
  let found: { readonly color: Color | undefined } | undefined;
  const colorBehind = (): Color | undefined => (found ??= { color: behind() }).color;
  return (properties, text, level) => {
    const defaults = descend(styles, `a:lvl${String(level + 1)}pPr`, 'a:defRPr');
    const size = wholeNumber(properties?.attributes['sz'] ?? defaults?.attributes['sz']);
    const isFlat = !isSolid && !isDrawnOtherwise(properties) && !isDrawnOtherwise(defaults);
    const color = isFlat
      ? (fillOf(properties, palette) ?? fillOf(defaults, palette) ?? fontColor ?? 'unknown')
      : 'unknown';
    const reason = reasonUnseen({
      // In hundredths of a point.
      size: size === undefined ? undefined : size / 100,
      opacity: color === 'none' ? 0 : undefined,
      color: colorOfFill(color),
      behind: () => {
        const own = groundOf(properties, palette);
        return own === undefined ? colorBehind() : colorOfFill(own);
      },
    });
    return reason === undefined || gaps.hidden.accepts(reason, { text });
  };
}

/** Properties of a body that give its letters no depth. */
const FLAT: ReadonlySet<string> = new Set(
  'a:noAutofit a:normAutofit a:spAutoFit a:prstTxWarp a:extLst'.split(' '),
);
/** The colour that a run is marked with. */
function groundOf(properties: XmlElement | undefined, palette: Palette): Fill | undefined {
  const highlight = childOf(properties, 'a:highlight');
  return highlight && (colorIn(highlight, palette) ?? 'unknown');
}

interface Placed {
  readonly box: Box;
}

const isPlaced = <Item extends Pick<Shape, 'box'>>(item: Item): item is Item & Placed =>
  item.box !== undefined;

/** More shapes keep the order of the file. */
const MAX_ORDERED = 500;
/** A gap between rows divides a slide unless one between columns is this many times as wide. */
const ROW_PREFERENCE = 3;

/**
 * Brings shapes into reading order by recursive cuts along the widest empty strip (XY-cut): rows from the top, columns from the
 * left. Shapes that overlap keep the order of the file, as do all when the place of one is not known.
 */
function orderShapes<Item extends Pick<Shape, 'box'>>(items: readonly Item[]): readonly Item[] {
  return items.every(isPlaced) && items.length <= MAX_ORDERED ? divide(items) : items;
}

function divide<Item extends Placed>(items: readonly Item[]): readonly Item[] {
  if (items.length < 2) return items;
  const rows = widestGap(items, 'y', 'height');
  const columns = widestGap(items, 'x', 'width');
  const isByRows = rows !== undefined && (!columns || columns.width <= rows.width * ROW_PREFERENCE);
  const gap = isByRows ? rows : columns;
  if (!gap) return items;
  const isBefore = ({ box }: Item): boolean => box[isByRows ? 'y' : 'x'] < gap.at;
  return [...divide(items.filter(isBefore)), ...divide(items.filter((item) => !isBefore(item)))];
}

/** The widest strip between shapes that none of them crosses; `at` is where it ends. */
function widestGap(items: readonly Placed[], start: 'x' | 'y', size: 'width' | 'height') {
  const spans = items
    .map(({ box }) => ({ first: box[start], last: box[start] + box[size] }))
    .sort((a, b) => a.first - b.first);
  let reached = at(spans, 0).last;
  let widest: { at: number; width: number } | undefined;
  for (const { first, last } of spans.slice(1)) {
    const width = first - reached;
    // Boxes of text often touch, or overlap by a hair.
    if (width >= 0 && (!widest || width > widest.width)) widest = { at: first, width };
    reached = Math.max(reached, last);
  }
  return widest;
}
