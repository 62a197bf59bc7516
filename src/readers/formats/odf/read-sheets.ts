import type { Block } from '../../blocks/block.js';
import { tableBlocks } from '../tables/table-blocks.js';
import { looksLikeHeader } from '../tables/header-rows.js';
import type { Unseen } from '../visibility/hidden-counter.js';
import type { OdfContext } from './context.js';
import type { SheetEvent, SheetRow } from './sheet-events.js';

/** The number of rows from the top among which the row is sought that names the columns. */
const MAX_ROWS_ABOVE_HEADER = 8;

type Sheet = Extract<SheetEvent, { kind: 'sheet' }>;

/** Reads sheet by sheet. Rows are read as they come, since a sheet may have a million. */
export function* readSheets(events: Iterable<SheetEvent>, context: OdfContext): Iterable<Block> {
  const source = createSource(events);
  let total = 0;
  for (let event = source.next(); event; event = source.next()) {
    if (event.kind !== 'sheet') continue;
    total += 1;
    yield* readSheet(event, source, context);
  }
  context.receipt.setParts('sheet', total);
}

function* readSheet(sheet: Sheet, source: Source, { hidden, receipt }: OdfContext): Iterable<Block> {
  const location = { sheet: sheet.name };
  const leftOut = { events: 0 };
  const isRead = (event: SheetEvent): boolean => {
    const kind = hiddenKind(sheet, event);
    if (kind === undefined || hidden.accepts(kind, { text: textOf(event) })) return true;
    leftOut.events += 1;
    return false;
  };
  let isFirst = true;
  for (const block of contentBlocks(source, sheet, isRead)) {
    if (isFirst) yield* firstBlocks(sheet, block);
    else yield block;
    isFirst = false;
  }
  if (!isFirst || leftOut.events === 0) receipt.addPartRead();
  if (isFirst && leftOut.events === 0) receipt.addGap('empty', 'The sheet holds no text.', location);
}

function hiddenKind(sheet: Sheet, event: SheetEvent): Unseen | undefined {
  if (sheet.isHidden) return 'sheet';
  return event.kind === 'row' && event.isHidden ? 'row' : undefined;
}

function textOf(event: SheetEvent): string {
  if (event.kind === 'row') return event.cells.join(' ');
  return event.kind === 'text' ? event.text : '';
}

/** The name of a sheet is a heading of its rows. A chunk begins there. */
function* firstBlocks({ name }: Sheet, block: Block): Iterable<Block> {
  if (name === '') {
    yield { ...block, isPart: true };
    return;
  }
  yield { text: `${name}\n\n`, heading: 1, place: { sheet: name }, isPart: true };
  yield block;
}

function* contentBlocks(
  source: Source,
  sheet: Sheet,
  isRead: (event: SheetEvent) => boolean,
): Iterable<Block> {
  for (let event = source.peek(); event && event.kind !== 'sheet'; event = source.peek())
    if (event.kind === 'text') {
      source.next();
      if (isRead(event)) yield { text: `${event.text}\n\n`, place: { sheet: sheet.name } };
    } else yield* tableOf(rowsOf(source, isRead), sheet.name);
}

/** The rows up to the next text or sheet. */
function* rowsOf(source: Source, isRead: (event: SheetEvent) => boolean): Iterable<SheetRow> {
  for (let event = source.peek(); event?.kind === 'row'; event = source.peek()) {
    source.next();
    if (isRead(event)) yield event;
  }
}

/** Lines above the row that names the columns, such as a title, become text of their own. */
function* tableOf(rows: Iterable<SheetRow>, sheet: string): Iterable<Block> {
  const iterator = rows[Symbol.iterator]();
  const first: SheetRow[] = [];
  while (first.length < MAX_ROWS_ABOVE_HEADER) {
    const next = iterator.next();
    if (next.done === true) break;
    first.push(next.value);
    if (looksLikeHeader(next.value.cells)) break;
  }
  const header = first.at(-1);
  const hasHeader = header !== undefined && looksLikeHeader(header.cells);
  const above = hasHeader && first.slice(0, -1).every(isCaption) ? first.splice(0, first.length - 1) : [];
  for (const { cells, number } of above)
    yield { text: `${cells.filter((cell) => cell !== '').join(' ')}\n\n`, place: { sheet, row: number } };
  const isTable = hasHeader && first.length === 1;
  yield* tableBlocks(placed(first, { [Symbol.iterator]: () => iterator }, sheet), {
    headerRows: isTable ? 1 : 0,
  });
}

/** A row with one cell, above the names of the columns. */
const isCaption = ({ cells }: SheetRow): boolean => cells.filter((cell) => cell !== '').length < 2;

function* placed(
  first: readonly SheetRow[],
  rest: Iterable<SheetRow>,
  sheet: string,
): Iterable<{ cells: readonly string[]; place: { sheet: string; row: number } }> {
  for (const { cells, number } of first) yield { cells, place: { sheet, row: number } };
  for (const { cells, number } of rest) yield { cells, place: { sheet, row: number } };
}

interface Source {
  peek(): SheetEvent | undefined;
  next(): SheetEvent | undefined;
}

function createSource(events: Iterable<SheetEvent>): Source {
  const iterator = events[Symbol.iterator]();
  let held: SheetEvent | undefined;
  const pull = (): SheetEvent | undefined => {
    const next = iterator.next();
    return next.done === true ? undefined : next.value;
  };
  return {
    peek: () => (held ??= pull()),
    next: () => {
      const event = held ?? pull();
      held = undefined;
      return event;
    },
  };
}
