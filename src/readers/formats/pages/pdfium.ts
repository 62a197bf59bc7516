import { createRequire } from 'node:module';
import type {
  LiteParse,
  LiteParseConfig,
  PageComplexityStats,
  ParsedPage,
  ParseResult,
  ScreenshotResult,
  TextItem,
} from '@llamaindex/liteparse';
import { z } from 'zod';
import type { Rectangle } from '../../blocks/location.js';

/** Pages that are passed on at once, so that memory stays bounded. */
const BATCH_PAGES = 25;
/** Each read opens the file anew, which takes long for a large one: it is read in twice as many pages. */
const LARGE_BYTES = 2 * 1024 * 1024;
/** Batches that are read ahead. Only one is within PDFium at a time, but the layout of one is analysed beside it. */
const READ_AHEAD = 2;
/** A text of this many characters may have been cut: PDFium reads 32,767 of a string, and says nothing. */
export const MAX_TEXT_LENGTH = 32_000;
const MAX_PAGES = 1_000_000;

/**
 * The options by which every document is read. Without a path for the data of text recognition, the reader would download
 * it.
 */
const OPTIONS = {
  ocrEnabled: false,
  tessdataPath: '/nonexistent',
  quiet: true,
  maxPages: MAX_PAGES,
  numWorkers: 1,
  continueOnPageError: true,
  extractLinks: false,
  emitWordBoxes: false,
  outputFormat: 'text',
} satisfies Partial<LiteParseConfig>;

const LAYOUT = {
  extractBlocks: true,
  extractTextMetadata: true,
  preserveVerySmallText: true,
} satisfies Partial<LiteParseConfig>;

export interface PageBatch {
  readonly first: number;
  readonly last: number;
  readonly total: number;
  /** The pages that could be read. */
  readonly pages: readonly ParsedPage[];
}

export interface Pdfium {
  readonly version: string;
  /** The pages of a document, in batches; none for a batch that cannot be read. @throws when the file cannot be opened */
  readonly readBatches: (bytes: Uint8Array, how: Reading) => AsyncIterable<PageBatch>;
  /** Pages whose content appears turned clockwise by these degrees, set upright. */
  readonly readUpright: (
    bytes: Uint8Array,
    turns: readonly Turn[],
    how: Pick<Reading, 'withShapes'>,
  ) => Promise<readonly ParsedPage[]>;
  /** Measures how much of each of these pages is covered by pictures and drawings. */
  readonly readCoverage: (
    bytes: Uint8Array,
    pages: readonly number[],
  ) => Promise<ReadonlyMap<number, PageComplexityStats>>;
  /** Reads the places of form fields on these pages. The time grows with the file, whatever the pages. */
  readonly readFields: (
    bytes: Uint8Array,
    pages: readonly number[],
  ) => Promise<ReadonlyMap<number, readonly Rectangle[]>>;
  /** Texts that were typed onto these pages as annotations, and where. It takes time in proportion to the file. */
  readonly readNotes: (
    bytes: Uint8Array,
    pages: readonly number[],
  ) => Promise<ReadonlyMap<number, readonly Note[]>>;
  /** The texts of these pages with the places of their words. */
  readonly readWords: (
    bytes: Uint8Array,
    pages: readonly number[],
  ) => Promise<ReadonlyMap<number, readonly TextItem[]>>;
  /** The size of a page in points; undefined when there is no such page. */
  readonly pageSize: (
    bytes: Uint8Array,
    page: number,
  ) => Promise<Pick<ParsedPage, 'width' | 'height'> | undefined>;
  /** Pages as PNG pictures. */
  readonly render: (bytes: Uint8Array, pages: readonly number[], dpi: number) => Promise<ScreenshotResult[]>;
  /** Reads the first page of a file, or a picture, by text recognition. */
  readonly recognize: (bytes: Uint8Array, how: Recognition) => Promise<ParsedPage>;
}

export interface Reading {
  /** True if the shapes that are drawn are read, too, which doubles the time of pages with many. */
  readonly withShapes: boolean;
  /** True if the fields of forms are read, too, with their values. */
  readonly withFields: boolean;
}

/** Text that was typed onto a page as an annotation. */
export interface Note {
  readonly text: string;
  readonly box: Rectangle;
}

export interface Recognition {
  readonly language: string;
  /** The folder with the data of the language. */
  readonly folder: string;
  /** The angle by which the content appears turned clockwise. Places are on the upright page. */
  readonly angle: 0 | Turn['angle'];
}

export interface Turn {
  readonly page: number;
  readonly angle: 90 | 180 | 270;
}

type Create = (options: Partial<LiteParseConfig>) => LiteParse;

/** Loads PDFium with Tesseract; undefined where there is no build of it for this machine. */
export async function loadPdfium(): Promise<Pdfium | undefined> {
  const library = await import('@llamaindex/liteparse').catch(() => undefined);
  if (!library) return undefined;
  const create: Create = (options) => new library.LiteParse(Object.assign({}, OPTIONS, options));
  return {
    version: libraryVersion(),
    readBatches(bytes, { withShapes, withFields }) {
      const options = { ...LAYOUT, extractVectorGraphics: withShapes, extractFormFields: withFields };
      return readBatches(bytes, (targetPages) => create({ ...options, targetPages }).parse(shared(bytes)));
    },
    async readUpright(bytes, turns, { withShapes }) {
      const targetPages = turns.map(({ page }) => String(page)).join(',');
      const how = { pageOrientationCorrections: [...turns], extractVectorGraphics: withShapes };
      const options = Object.assign({ targetPages }, how);
      return (await create(Object.assign(options, LAYOUT)).parse(shared(bytes))).pages;
    },
    readCoverage: (bytes, pages) => readCoverage(create, bytes, pages),
    readFields: (bytes, pages) => readFields(create, bytes, pages),
    readNotes: (bytes, pages) => readNotes(create, bytes, pages),
    async readWords(bytes, numbers) {
      const options = { ...LAYOUT, targetPages: numbers.join(','), emitWordBoxes: true };
      const { pages } = await create(options).parse(shared(bytes));
      return new Map(pages.map(({ pageNum, textItems }) => [pageNum, textItems]));
    },
    async pageSize(bytes, page) {
      return (await create({ targetPages: String(page) }).parse(shared(bytes))).pages[0];
    },
    render: (bytes, pages, dpi) => create({ dpi }).screenshot(shared(bytes), [...pages]),
    async recognize(bytes, { language, folder, angle }) {
      const pageOrientationCorrections = [{ page: 1, angle }];
      const data = { ocrLanguage: language, tessdataPath: folder };
      const parser = create({ ocrEnabled: true, dpi: 150, pageOrientationCorrections, ...data });
      const page = (await parser.parse(shared(bytes))).pages[0];
      if (!page) throw new Error('no page was recognized');
      return page;
    },
  };
}

async function readCoverage(create: Create, bytes: Uint8Array, numbers: readonly number[]) {
  const options = { targetPages: numbers.join(','), includeComplexity: true, preserveVerySmallText: true };
  const { pages } = await create(options).parse(shared(bytes));
  return new Map(pages.flatMap(({ pageNum, complexity }) => (complexity ? [[pageNum, complexity]] : [])));
}

async function readFields(create: Create, bytes: Uint8Array, numbers: readonly number[]) {
  const options = { targetPages: numbers.join(','), extractFormFields: true };
  const { pages } = await create(options).parse(shared(bytes));
  const boxesOf = ({ formFields = [] }: ParsedPage): Rectangle[] =>
    formFields.flatMap(({ rect }) => (rect ? [rect] : []));
  return new Map(pages.map((page) => [page.pageNum, boxesOf(page)]));
}

async function readNotes(create: Create, bytes: Uint8Array, numbers: readonly number[]) {
  const options = { targetPages: numbers.join(','), extractAnnotations: true };
  const { pages } = await create(options).parse(shared(bytes));
  const notesOf = ({ annotations = [] }: ParsedPage): Note[] =>
    annotations.flatMap(({ subtype, contents = '', rect }) =>
      subtype === 'freetext' && rect && contents.trim() !== '' ? [{ text: contents, box: rect }] : [],
    );
  return new Map(pages.map((page) => [page.pageNum, notesOf(page)]));
}

/** While a batch is worked on, the next ones are read in threads. */
async function* readBatches(
  bytes: Uint8Array,
  read: (pages: string) => Promise<ParseResult>,
): AsyncIterable<PageBatch> {
  const size = bytes.length > LARGE_BYTES ? 2 * BATCH_PAGES : BATCH_PAGES;
  const readFrom = (first: number): Promise<ParseResult> => {
    const result = read(`${String(first)}-${String(first + size - 1)}`);
    result.catch(() => undefined);
    return result;
  };
  const { totalPages: total, pages } = await readFrom(1);
  const ahead: Promise<ParseResult>[] = [];
  let next = 1 + size;
  const fill = (): void => {
    for (; ahead.length < READ_AHEAD && next <= total; next += size) ahead.push(readFrom(next));
  };
  try {
    fill();
    yield* batchesOf(pages, { first: 1, last: Math.min(size, total), total });
    for (let first = 1 + size; first <= total; first += size) {
      const result = await ahead.shift()?.catch(() => undefined);
      fill();
      yield* batchesOf(result?.pages ?? [], { first, last: Math.min(first + size - 1, total), total });
    }
  } finally {
    await Promise.allSettled(ahead);
  }
}

function* batchesOf(
  pages: readonly ParsedPage[],
  { first, last, total }: Omit<PageBatch, 'pages'>,
): Iterable<PageBatch> {
  for (let from = first; from === first || from <= last; from += BATCH_PAGES) {
    const to = Math.min(from + BATCH_PAGES - 1, last);
    const within = pages.filter(({ pageNum }) => pageNum >= from && pageNum <= to);
    yield { first: from, last: to, total, pages: within };
  }
}

/** Shares the memory of whole buffers with the library, which copies all other bytes with each call. */
function shared(bytes: Uint8Array): Uint8Array {
  const { buffer, byteLength } = bytes;
  if (byteLength !== buffer.byteLength) return bytes;
  const memory: unknown = buffer;
  // @NOTE `Buffer.from` of the library takes it, and then shares its memory; the library's types do not say so.
  return memory as Uint8Array;
}

function libraryVersion(): string {
  const require = createRequire(import.meta.url);
  return z.object({ version: z.string() }).parse(require('@llamaindex/liteparse/package.json')).version;
}
