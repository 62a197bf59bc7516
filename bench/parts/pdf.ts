import type * as decoded from '../../src/workers/parse/formats/pdf/pdf.js';
import type * as writer from '../../src/workers/parse/extraction/receipt-writer.js';
import { DEFAULT_READ_OPTIONS } from '../../src/shared/extraction/read-options.js';
import { manyPages, pagesPdf } from '../../test/support/pdfs.js';
import { round } from '../support/client.js';
import { importCompiled } from '../support/import-compiled.js';

// @NOTE under their sources' types: the parsers find their resources beside the compiled files
const { parsePdf } = (await importCompiled('workers/parse/formats/pdf/pdf.js')) as typeof decoded;
// @NOTE as above
const { createReceiptWriter } = (await importCompiled(
  'workers/parse/extraction/receipt-writer.js',
)) as typeof writer;

const ROUNDS = 5;
const PAGES = 600;

/** Pages a second of PDFs by the layout reader beside pdf.js alone, alternated in one process. */
export async function measurePdf() {
  const bytes = pagesPdf(manyPages(PAGES));
  const times = { layout: [] as number[], pdfjs: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    times.layout.push(await secondsToRead(bytes, { avoidsNativeCode: false }));
    times.pdfjs.push(await secondsToRead(bytes, { avoidsNativeCode: true }));
  }
  const [layout, pdfjs] = [PAGES / Math.min(...times.layout), PAGES / Math.min(...times.pdfjs)];
  const figures = {
    layoutPagesPerSecond: round(layout),
    pdfjsPagesPerSecond: round(pdfjs),
    ratio: round(layout / pdfjs),
  };
  console.table([figures]);
  return { figures, measured: {} };
}

async function secondsToRead(
  bytes: Uint8Array,
  { avoidsNativeCode }: { avoidsNativeCode: boolean },
): Promise<number> {
  const started = performance.now();
  const context = {
    filename: null,
    options: DEFAULT_READ_OPTIONS,
    receipt: createReceiptWriter(),
    avoidsNativeCode,
  };
  let characters = 0;
  for await (const { text } of parsePdf(bytes, context)) characters += text.length;
  if (characters === 0) throw new Error('no text was read');
  return (performance.now() - started) / 1_000;
}
