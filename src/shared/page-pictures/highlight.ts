import type { Box } from '../../readers/index.js';
import { placeOfPart } from '../chunks/spots.js';
import type { StoredChunk } from '../chunks/fields.js';
import type { TextSpan } from '../text/sentences.js';

/** The passage that is marked on a page. */
export interface Highlight {
  /** The number of a chunk. */
  readonly chunk: number;
  /** The part of its text; all of it without one. */
  readonly part: TextSpan | null;
}

export const HIGHLIGHT = /^(\d{1,8})(?::(\d{1,8})-(\d{1,8}))?$/;

/** Reads a chunk (`7`), or a part of one (`7:120-180`, in UTF-16 units); null for anything else. */
export function parseHighlight(text: string): Highlight | null {
  const [, chunk, ...bounds] = HIGHLIGHT.exec(text.trim()) ?? [];
  if (chunk === undefined) return null;
  const [start, end] = bounds.map(Number).toSorted((a, b) => a - b);
  const part =
    start === undefined || end === undefined || Number.isNaN(start)
      ? null
      : { start, end: Math.max(end, start + 1) };
  return { chunk: Number(chunk), part };
}

/** Writes a highlight as it is read. */
export const writeHighlight = ({ chunk, part }: Highlight): string =>
  part ? `${String(chunk)}:${String(part.start)}-${String(part.end)}` : String(chunk);

/**
 * The rectangles of a chunk, or of a part of it, on a page. A part has those of the lines that it touches, and those of the
 * chunk where it does not tell its lines; one behind the text has none.
 */
export function boxesOn(page: number, stored: StoredChunk, { part }: Highlight): Box[] {
  if (part && part.start >= stored.text.length) return [];
  const boxes = part ? placeOfPart(stored, part).boxes : undefined;
  return (boxes ?? stored.location?.boxes ?? []).filter((box) => box.page === page);
}
