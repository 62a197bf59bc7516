import { type Box, type Location, LOCATION_FIELDS, type Place, type Span } from '../../../readers/index.js';
import type { Chunk } from '../../chunking/chunk.js';
import { MAX_BOXES } from './chunk-bounds.js';
import type { BlockSpan, Extracted } from './collect-blocks.js';

export interface LocatedChunk {
  readonly location: Location | null;
  /** The headings over the first of its text that the chunk before does not hold. */
  readonly section: readonly string[];
}

/** Says of each chunk where it stands. @param chunks in the order of the text */
export function* locateChunks(
  { text, spans }: Extracted,
  chunks: Iterable<Pick<Chunk, 'start' | 'end' | 'text' | 'overlap'>>,
): Iterable<LocatedChunk> {
  const lines = createLineCounter(text);
  let first = 0;
  for (const { start, end, text: content, overlap } of chunks) {
    while ((spans[first]?.end ?? Infinity) <= start) first += 1;
    const held: BlockSpan[] = [];
    for (let i = first; i < spans.length; i += 1) {
      const span = spans[i];
      if (!span || span.start >= end) break;
      held.push(span);
    }
    const freshFrom = end - (content.length - overlap);
    yield { location: locationOf(held, { start, end, lines }), section: sectionOf(held, freshFrom) };
  }
}

/** Returns the section of the first text that is no heading; the section of the last heading when there are only headings. */
function sectionOf(held: readonly BlockSpan[], freshFrom: number): readonly string[] {
  const fresh = held.filter(({ end }) => end > freshFrom);
  const span = fresh.find(({ isHeading }) => !isHeading) ?? fresh.at(-1);
  return span?.section ?? [];
}

type LineCounter = ReturnType<typeof createLineCounter>;

interface Within {
  readonly start: number;
  readonly end: number;
  readonly lines: LineCounter;
}

/** All fields of a location, so that a new one does not compile until it is made here. */
type AllFields = { readonly [Name in keyof Location]-?: Location[Name] | undefined };

function locationOf(held: readonly BlockSpan[], within: Within): Location | null {
  const places = held.flatMap(({ place }) => place ?? []);
  if (places.length === 0) return null;
  const fields: AllFields = {
    pages: spanOf(places, ({ page }) => page),
    boxes: boxesOf(places),
    slides: spanOf(places, ({ slide }) => slide),
    sheet: firstOf(places, ({ sheet }) => sheet),
    rows: spanOf(places, ({ row }) => row),
    chapter: firstOf(places, ({ chapter }) => chapter),
    message: firstOf(places, ({ message }) => message),
    lines: linesOf(held, within) ?? sourceLinesOf(places),
  };
  const told = LOCATION_FIELDS.filter((name) => fields[name] !== undefined);
  if (told.length === 0) return null;
  return told.reduce<Location>((location, name) => ({ ...location, [name]: fields[name] }), {});
}

function firstOf<Value>(places: readonly Place[], read: (place: Place) => Value | undefined) {
  for (const place of places) {
    const value = read(place);
    if (value !== undefined) return value;
  }
  return undefined;
}

function spanOf(places: readonly Place[], read: (place: Place) => number | undefined): Span | undefined {
  let span: Span | undefined;
  for (const place of places) {
    const value = read(place);
    // A file may state wrong rows and pages.
    if (value === undefined || !Number.isSafeInteger(value) || value < 1) continue;
    span = { first: Math.min(span?.first ?? value, value), last: Math.max(span?.last ?? value, value) };
  }
  return span;
}

function boxesOf(places: readonly Place[]): Box[] | undefined {
  const boxes = places.flatMap(({ page, boxes: found }) =>
    page === undefined || !found ? [] : found.map((box) => ({ page, ...box })),
  );
  return boxes.length > 0 ? boxes.slice(0, MAX_BOXES) : undefined;
}

function linesOf(held: readonly BlockSpan[], { start, end, lines }: Within): Span | undefined {
  const numbered = held.filter(({ place }) => place?.line !== undefined);
  const [first, last] = [numbered[0], numbered.at(-1)];
  if (!first || !last) return undefined;
  return {
    first: lines.lineAt(first, Math.max(start, first.start), 'first'),
    // A line ends with its line end, so the line after it is not held.
    last: lines.lineAt(last, Math.max(last.start, Math.min(end, last.end) - 1), 'last'),
  };
}

function sourceLinesOf(places: readonly Place[]): Span | undefined {
  const first = spanOf(places, ({ lines }) => lines?.first);
  const last = spanOf(places, ({ lines }) => lines?.last);
  return first && last ? { first: first.first, last: last.last } : undefined;
}

interface LineCursor {
  /** The start of the block that it is in. */
  readonly block: number;
  line: number;
  /** The first line end that is not counted yet. */
  next: number;
}

/** Counts line ends within blocks. It remembers where it was, so that the text is read once for each end of the chunks. */
function createLineCounter(text: string) {
  const cursors: Partial<Record<'first' | 'last', LineCursor>> = {};
  const lineEndFrom = (position: number): number => {
    const found = text.indexOf('\n', position);
    return found === -1 ? Infinity : found;
  };
  return {
    /** @param end positions that are asked for one end must rise within a block */
    lineAt: (block: BlockSpan, position: number, end: keyof typeof cursors): number => {
      const known = cursors[end];
      const cursor =
        known?.block === block.start
          ? known
          : { block: block.start, line: block.place?.line ?? 1, next: lineEndFrom(block.start) };
      while (cursor.next < position) {
        cursor.line += 1;
        cursor.next = lineEndFrom(cursor.next + 1);
      }
      cursors[end] = cursor;
      return cursor.line;
    },
  };
}
