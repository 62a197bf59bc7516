import { createRequire } from 'node:module';
import type { LiteParse, LiteParseConfig, ParsedPage, ScreenshotResult } from '@llamaindex/liteparse';
import { z } from 'zod';

/** Pages that are read at once, so that memory stays bounded. */
const BATCH_PAGES = 25;
/** A text of so many characters may have been cut: PDFium reads 32,767 of a string, and says nothing. */
export const LONGEST_TEXT = 32_000;
const MOST_PAGES = 1_000_000;

/** How every document is read. Without a path for the data of text recognition, the reader would download it. */
const OPTIONS = {
  ocrEnabled: false,
  tessdataPath: '/nonexistent',
  quiet: true,
  maxPages: MOST_PAGES,
  numWorkers: 1,
  continueOnPageError: true,
  extractLinks: false,
  emitWordBoxes: false,
  outputFormat: 'text',
} satisfies Partial<LiteParseConfig>;

const LAYOUT = {
  extractBlocks: true,
  extractFormFields: true,
  extractTextMetadata: true,
  includeComplexity: true,
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
  /** The pages of a document, in batches. @throws when it cannot be opened */
  readonly readBatches: (bytes: Uint8Array) => AsyncIterable<PageBatch>;
  /** Pages whose content appears turned clockwise by these degrees, set upright. */
  readonly readUpright: (bytes: Uint8Array, turns: readonly Turn[]) => Promise<readonly ParsedPage[]>;
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

export interface Recognition {
  readonly language: string;
  /** The folder with the data of the language. */
  readonly folder: string;
  /** By how much the content appears turned clockwise. Places are those of the upright page. */
  readonly angle: 0 | Turn['angle'];
}

export interface Turn {
  readonly page: number;
  readonly angle: 90 | 180 | 270;
}

/** Loads PDFium with Tesseract; undefined where there is no build of it for this machine. */
export async function loadPdfium(): Promise<Pdfium | undefined> {
  const library = await import('@llamaindex/liteparse').catch(() => undefined);
  if (!library) return undefined;
  const create = (options: Partial<LiteParseConfig>): LiteParse =>
    new library.LiteParse(Object.assign({}, OPTIONS, options));
  return {
    version: libraryVersion(),
    readBatches: (bytes) => readBatches(create(LAYOUT), bytes),
    async readUpright(bytes, turns) {
      const targetPages = turns.map(({ page }) => String(page)).join(',');
      const options = { targetPages, pageOrientationCorrections: [...turns] };
      return (await create(Object.assign(options, LAYOUT)).parse(bytes)).pages;
    },
    async pageSize(bytes, page) {
      return (await create({ targetPages: String(page) }).parse(bytes)).pages[0];
    },
    render: (bytes, pages, dpi) => create({ dpi }).screenshot(bytes, [...pages]),
    async recognize(bytes, { language, folder, angle }) {
      const pageOrientationCorrections = [{ page: 1, angle }];
      const data = { ocrLanguage: language, tessdataPath: folder };
      const parser = create({ ocrEnabled: true, dpi: 150, pageOrientationCorrections, ...data });
      const page = (await parser.parse(bytes)).pages[0];
      if (!page) throw new Error('no page was recognized');
      return page;
    },
  };
}

/** While a batch is worked on, the next one is read in a thread. */
async function* readBatches(parser: LiteParse, bytes: Uint8Array): AsyncIterable<PageBatch> {
  const batches = parser.parseBatches(bytes, { batchSize: BATCH_PAGES });
  let next = batches.next();
  try {
    for (;;) {
      const step = await next;
      if (step.done) return;
      next = batches.next();
      next.catch(() => undefined);
      const { startPage, endPage, totalPages, result } = step.value;
      yield { first: startPage, last: endPage, total: totalPages, pages: result.pages };
    }
  } finally {
    await next.catch(() => undefined);
    await batches.return(undefined);
  }
}

function libraryVersion(): string {
  const require = createRequire(import.meta.url);
  return z.object({ version: z.string() }).parse(require('@llamaindex/liteparse/package.json')).version;
}
