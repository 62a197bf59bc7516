import { type Block, boundedNames, cleanText, oneLine, type Place } from '../../../readers/index.js';
import { MAX_HEADER_CHARACTERS, MAX_HEADING_CHARACTERS, MAX_HEADINGS } from './chunk-bounds.js';
import { NO_LAYOUT, type Layout, type RowSpan } from '../../chunking/layout.js';

/** A block without its text, by its place in the document's text, in UTF-16 units. */
export interface BlockSpan {
  readonly start: number;
  readonly end: number;
  readonly place: Place | undefined;
  /** The headings over it, the outermost first; its own last when it is one. */
  readonly section: readonly string[];
  readonly isHeading: boolean;
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
      const isHeading = block.heading !== undefined;
      if (block.isPart === true) {
        headings.forget();
        parts.push(start);
      }
      if (block.heading !== undefined) {
        headings.add(block.heading, text);
        headingEnds.add(end);
      }
      if (block.row) rows.push({ start, end, header: boundedHeader(block.row.header) });
      spans.push({ start, end, place: boundedPlace(block.place), section: headings.path(), isHeading });
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
