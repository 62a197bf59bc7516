import {
  boundedNames,
  cleanText,
  oneLine,
  locationSchema,
  factsOf,
  LOCATION_FIELDS,
  type Block,
  type Place,
  type Location,
  type FileFormat,
  type Box,
  type LineBox,
  type Rectangle,
  type Span,
} from '../../readers/index.js';
import { packSpots, type Spot } from '../../shared/chunks/spots.js';
import { MAX_TOKEN_LENGTH } from '../../shared/text/token-count.js';
import type { ChunkOptions, Chunk } from '../chunking/chunk.js';
import { NO_LAYOUT, type Layout, type RowSpan } from '../chunking/layout.js';

/** A block without its text, by its place in the document's text, in UTF-16 units. */
export interface BlockSpan {
  readonly start: number;
  readonly end: number;
  readonly place: Place | undefined;
  /** The headings over it, the outermost first; its own last when it is one. */
  readonly section: readonly string[];
  readonly isHeading: boolean;
  /** Its lines on a page, by their places in the document's text. */
  readonly lines: readonly LineBox[];
}

/** The text of a document, and the layout that its format tells. */
export interface Extracted {
  readonly text: string;
  readonly layout: Layout;
  readonly spans: readonly BlockSpan[];
}

/** Joins blocks to the text of a document. */
export function createBlockCollector() {
  const texts: string[] = [];
  const spans: BlockSpan[] = [];
  const rows: RowSpan[] = [];
  const parts: number[] = [];
  const headingEnds = new Set<number>();
  const headings = createHeadings();
  let length = 0;
  return {
    add(block: Block): void {
      const text = cleanText(block.text, length === 0);
      if (text === '') return;
      const [start, end] = [length, length + text.length];
      if (block.isPart === true) {
        headings.forget();
        parts.push(start);
      }
      if (block.heading !== undefined) {
        headings.add(block.heading, text);
        headingEnds.add(end);
      }
      if (block.row) rows.push({ start, end, header: boundedHeader(block.row.header) });
      spans.push({ ...blockSpan(block, text, start), section: headings.path() });
      texts.push(text);
      length = end;
    },
    /** Tells whether there is no text yet but white space. */
    isBlank: () => texts.every((text) => text.trim() === ''),
    end(): Extracted {
      const isPlain = rows.length + parts.length + headingEnds.size === 0;
      return { text: texts.join(''), layout: isPlain ? NO_LAYOUT : { parts, headingEnds, rows }, spans };
    },
  };
}

/** @param text the text of the block without what was removed from it, which begins at `start` */
function blockSpan(block: Block, text: string, start: number): Omit<BlockSpan, 'section'> {
  return {
    start,
    end: start + text.length,
    place: boundedPlace(block.place),
    isHeading: block.heading !== undefined,
    lines: linesFrom(start, block, text),
  };
}

/** The lines of a block by their places in the document. @param cleaned the text of the block without what was removed from it */
function linesFrom(start: number, { text, lines = [] }: Block, cleaned: string): readonly LineBox[] {
  const isSame = text === cleaned;
  return lines.map((line) => {
    const within = isSame ? line.start : cleanText(text.slice(0, line.start), start === 0).length;
    return { start: start + Math.min(within, cleaned.length), box: line.box };
  });
}

/** Each chunk of a sheet or chapter holds its name. */
function boundedPlace(place: Place | undefined): Place | undefined {
  if (place?.sheet === undefined && place?.chapter === undefined) return place;
  return { ...place, ...boundedNames(place) };
}

const boundedHeader = (header: string): string =>
  header.length > MAX_HEADER_CHARACTERS ? '' : cleanText(header, false);

/** Keeps the path of the headings that are open. */
function createHeadings() {
  let open: readonly { readonly level: number; readonly title: string }[] = [];
  let path: readonly string[] = [];
  const set = (next: typeof open) => {
    open = next;
    path = next.map(({ title }) => title);
  };
  return {
    path: () => path,
    forget: () => {
      set([]);
    },
    add: (level: number, text: string) => {
      const title = oneLine(text.replace(/^#+\s|\s#+\s*$/g, '')).slice(0, MAX_HEADING_CHARACTERS);
      const over = open.filter((each) => each.level < level).slice(0, MAX_HEADINGS - 1);
      set(title === '' ? over : [...over, { level, title }]);
    },
  };
}

// Bounds of the data that chunks hold beside their own text. Parsers make no more, and the messages of their processes are
// checked against it.

/** Most rectangles of a location; more say no more than the pages do. */
const MAX_BOXES = 32;
/** Most headings over a chunk, and most characters of each. */
export const MAX_HEADINGS = 8;
export const MAX_HEADING_CHARACTERS = 200;
/** Most characters of the rows that name the columns of a table; longer ones are not repeated. */
export const MAX_HEADER_CHARACTERS = 2_000;

/** Most characters of the name of a sheet or chapter; `bounded-names` leaves less. */
const MAX_CHARACTERS = 1_000;

/** A location as parsers make it: its names and rectangles are few. */
export const boundedLocation = locationSchema
  .extend({
    boxes: locationSchema.shape.boxes.unwrap().max(MAX_BOXES).optional(),
    sheet: locationSchema.shape.sheet.unwrap().max(MAX_CHARACTERS).optional(),
    chapter: locationSchema.shape.chapter.unwrap().max(MAX_CHARACTERS).optional(),
  })
  .nullable();

/** Null for a location that is none. The places that a file states must not keep a text from being found. */
export const knownLocation = (location: Location | null): Location | null =>
  boundedLocation.safeParse(location).data ?? null;

/**
 * The maximum number of characters of text for each byte of the file. More would let a small file, such as a table whose
 * headings are repeated in each row, use up the memory.
 */
const MAX_TEXT_PER_BYTE = 8;
const TEXT_ALLOWANCE = 1024 * 1024;
const COMPRESSED_TEXT_ALLOWANCE = 64 * 1024 * 1024;

/** Returns the most characters of text that a file of this many bytes may hold. */
export function mostText(
  { format, chunk }: { readonly format: FileFormat; readonly chunk: ChunkOptions },
  bytes: number,
): number {
  const allowance = factsOf(format).isCompressed ? COMPRESSED_TEXT_ALLOWANCE : TEXT_ALLOWANCE;
  const ofChunks = (chunk.maxChunks ?? Infinity) * chunk.size * MAX_TOKEN_LENGTH;
  return Math.min(ofChunks, MAX_TEXT_PER_BYTE * bytes + allowance);
}

interface LocatedChunk {
  readonly location: Location | null;
  /** The headings over the first of its text that the chunk before does not hold. */
  readonly section: readonly string[];
  /** The places within its text, packed. */
  readonly spots: string;
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
    const location = locationOf(held, { start, end, lines });
    const header = content.length - (end - start);
    const spots = spotsOf(held, { start, end, header, firstLine: location?.lines?.first });
    yield { location, section: sectionOf(held, freshFrom), spots: packSpots(spots) };
  }
}

interface SpotsWithin extends Pick<Chunk, 'start' | 'end'> {
  /** The length of the header of a table that the chunk repeats before its text. */
  readonly header: number;
  /** The line on which the chunk begins, in a file of lines. */
  readonly firstLine: number | undefined;
}

/** The places within the text of a chunk: lines of pages, and else blocks. */
function spotsOf(held: readonly BlockSpan[], { start, end, header, firstLine }: SpotsWithin): Spot[] {
  const spots: Spot[] = [];
  const add = (position: number, number: number, box: Rectangle | undefined) => {
    const last = spots.at(-1);
    if (last?.number === number && !box && !last.box) return;
    spots.push({ start: header + Math.max(0, position - start), number, box });
  };
  for (const [i, { start: begin, end: finish, place, lines }] of held.entries()) {
    const line = i === 0 ? firstLine : place?.line;
    const number = place?.page ?? place?.slide ?? place?.row ?? line;
    if (number === undefined || !Number.isSafeInteger(number)) continue;
    if (lines.length === 0) add(begin, number, place?.boxes?.[0]);
    for (const [at, each] of lines.entries()) {
      const isHeld = each.start < end && (lines[at + 1]?.start ?? finish) > start;
      if (isHeld) add(each.start, number, each.box);
    }
  }
  // A single one without a rectangle says no more than the location.
  return spots.length > 1 || spots[0]?.box ? spots : [];
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
