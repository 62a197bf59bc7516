import { at } from '../at.js';
import type { Box, Location, Rectangle, Span } from '../../readers/index.js';
import type { TextSpan } from '../text/sentences.js';

/**
 * A place within the text of a chunk: what stands from `start`, in UTF-16 units, to the start of the next spot is on the page,
 * slide, row or line of this number, whichever the location of the chunk counts.
 */
export interface Spot {
  readonly start: number;
  readonly number: number;
  /** The rectangle of a line of a page. */
  readonly box?: Rectangle | undefined;
}

/** Most spots of a chunk. Where there are more, the text from the last one on has its number, and no rectangle. */
export const MAX_SPOTS = 512;

/** Most characters of packed spots: six numbers of at most six bytes each, in Base64. */
export const MAX_PACKED_SPOTS = MAX_SPOTS * 48;

/** Most points of a side, or of its distance from the corner. A file may state larger ones, which are none of a page. */
const MAX_POINTS = 100_000;

/** Rectangles are kept in tenths of a point, as readers round them. */
const PARTS_OF_POINT = 10;

/*
 * Spots are kept as numbers of seven bits a byte, in Base64: the distance from the start before, the difference of the number
 * twice with a bit for a rectangle, and the differences of the rectangle's four sides. A line of a page takes some ten bytes.
 */

/** Returns the form of spots in the hash of a chunk; empty for none. */
export function packSpots(spots: readonly Spot[]): string {
  const bytes: number[] = [];
  let last: Required<Spot> = FIRST;
  for (const [i, { start, number, box: stated }] of spots.slice(0, MAX_SPOTS).entries()) {
    const isLastOfMore = i === MAX_SPOTS - 1 && spots.length > MAX_SPOTS;
    const box = stated && isOfPage(stated) && !isLastOfMore ? stated : undefined;
    appendVarint(bytes, start - last.start);
    appendVarint(bytes, 2 * zigzag(number - last.number) + (box ? 1 : 0));
    const sides = sidesOf(last.box ?? NO_BOX);
    if (box) sidesOf(box).forEach((side, i) => appendVarint(bytes, zigzag(side - at(sides, i))));
    last = { start, number, box: box ?? last.box };
  }
  return Buffer.from(bytes).toString('base64url');
}

/** Reads spots. What cannot be read must not keep a text from being quoted: there are none then. */
export function unpackSpots(packed: string | null | undefined): Spot[] {
  if (!packed) return [];
  const read = createReader(Buffer.from(packed, 'base64url'));
  const spots: Spot[] = [];
  let last: Required<Spot> = FIRST;
  while (!read.isAtEnd() && spots.length < MAX_SPOTS) {
    const start = last.start + read.number();
    const numberAndBit = read.number();
    const number = last.number + unzigzag(Math.floor(numberAndBit / 2));
    const box =
      numberAndBit % 2 === 1
        ? boxOf(sidesOf(last.box ?? NO_BOX).map((side) => side + unzigzag(read.number())))
        : undefined;
    spots.push({ start, number, box });
    last = { start, number, box: box ?? last.box };
  }
  return read.isWhole() ? spots : [];
}

const NO_BOX: Rectangle = { x: 0, y: 0, width: 0, height: 0 };
const FIRST: Required<Spot> = { start: 0, number: 0, box: NO_BOX };

const isOfPage = ({ x, y, width, height }: Rectangle): boolean =>
  [x, y, width, height].every((side) => Math.abs(side) <= MAX_POINTS);

const sidesOf = ({ x, y, width, height }: Rectangle): number[] =>
  [x, y, width, height].map((side) => Math.round(side * PARTS_OF_POINT));

function boxOf(sides: readonly number[]): Rectangle {
  const [x, y, width, height] = sides.map((side) => side / PARTS_OF_POINT);
  return { x: x ?? 0, y: y ?? 0, width: width ?? 0, height: height ?? 0 };
}

/** Makes small positive numbers of small ones of either sign: 0, -1, 1, -2 become 0, 1, 2, 3. */
const zigzag = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value);
const unzigzag = (value: number): number => (value % 2 === 0 ? value / 2 : -(value + 1) / 2);

function appendVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
}

/** Reads the numbers one after another. Beyond the end there are zeros, and `isWhole` says that there were too few bytes. */
function createReader(bytes: Uint8Array) {
  let next = 0;
  let isWhole = true;
  return {
    isAtEnd: () => next >= bytes.length,
    isWhole: () => isWhole,
    number: (): number => {
      let value = 0;
      for (let factor = 1; ; factor *= 0x80) {
        const byte = bytes[next];
        next += 1;
        if (byte === undefined || factor > MAX_FACTOR) {
          isWhole = false;
          return 0;
        }
        value += (byte % 0x80) * factor;
        if (byte < 0x80) return value;
      }
    },
  };
}

/** Numbers beyond 2^42 are none of ours. */
const MAX_FACTOR = 0x80 ** 5;

/** The place of a part of a chunk's text in its file, as far as the format tells. Numbers begin at 1. */
export interface PartPlace extends Pick<Location, 'sheet' | 'rows' | 'chapter' | 'message'> {
  readonly page?: number | undefined;
  /** The rectangles of the lines that the part stands on. */
  readonly boxes?: readonly Box[] | undefined;
  readonly slide?: number | undefined;
  readonly line?: number | undefined;
}

interface LocatedText {
  readonly text: string;
  readonly location: Location | null;
  /** Packed. */
  readonly spots: string;
}

/** Tells where a part of the text of a chunk stands in its file. */
export function placeOfPart({ text, location, spots }: LocatedText, part: TextSpan): PartPlace {
  if (location === null) return {};
  const { pages, slides, rows, lines, sheet, chapter, message } = location;
  const held = spotsOfPart(unpackSpots(spots), part);
  const [first, last] = [held[0]?.number, held.at(-1)?.number];
  const number = (span: Span) => first ?? (span.first === span.last ? span.first : undefined);
  const boxes = held.flatMap(({ number: page, box }) => (box ? [{ page, ...box }] : []));
  return {
    page: pages && number(pages),
    boxes: pages && boxes.length > 0 ? boxes : undefined,
    slide: slides && number(slides),
    rows: rows && (first !== undefined && last !== undefined ? { first, last } : rows),
    line: lines && lineOfPart(text, held[0] ?? { start: 0, number: lines.first }, part),
    sheet,
    chapter,
    message,
  };
}

/** The spots that a part of the text touches. */
function spotsOfPart(spots: readonly Spot[], { start, end }: TextSpan): Spot[] {
  const next = (i: number) => spots[i + 1]?.start ?? Infinity;
  return spots.filter((spot, i) => spot.start < end && next(i) > start);
}

/** Lines are counted from the spot on, where the block begins whose line it tells. */
function lineOfPart(text: string, spot: Spot, { start }: TextSpan): number {
  return spot.number + text.slice(spot.start, start).split('\n').length - 1;
}
