import type { PDFParse as PdfParse } from 'pdf-parse';
import type * as decoded from '../../src/readers/formats/pdf/pdf.js';
import type * as writer from '../../src/readers/receipt/receipt-writer.js';
import { DEFAULT_READ_OPTIONS } from '../../src/readers/read-options.js';
import { sampleFiles } from '../../test/support/sample-files.js';
import { pagesPdf } from '../../test/support/pdfs.js';
import { takeArticles } from '../files/articles.js';
import { articlePages } from '../files/pages.js';
import { round } from '../support/client.js';
import type { Collection } from '../support/collections.js';
import { importCompiled } from '../support/import-compiled.js';

// @NOTE under their sources' types: the parsers find their resources beside the compiled files
const { parsePdf } = (await importCompiled('readers/formats/pdf/pdf.js')) as typeof decoded;
// @NOTE as above
const { createReceiptWriter } = (await importCompiled('readers/receipt/receipt-writer.js')) as typeof writer;
// The globals that pdf.js needs to be loaded without a canvas.
await importCompiled('readers/formats/pdf/pdfjs/pdf-globals.js');

const ROUNDS = 5;
const PAGES = 600;
const CHARACTERS = 4_500_000;
/** Smaller files say more about how a document is opened than about its pages. */
const MIN_BYTES = 100_000;

/**
 * Pages a second of PDFs beside `getText` of pdf-parse, alternated in one process, after a round of each that is not counted:
 * full pages of text in one column, and the larger ones of the real files where these are. Text recognition is off.
 */
export async function measurePdf(scifact: Collection) {
  const { PDFParse } = await import('pdf-parse');
  const pages = articlePages(takeArticles(scifact, CHARACTERS)).slice(0, PAGES);
  const rows = [await compare(PDFParse, { name: 'made', bytes: pagesPdf(pages) })];
  for (const { file, expected, read } of sampleFiles()) {
    if (!file.endsWith('.pdf') || expected !== 'found') continue;
    const bytes = Uint8Array.from(read());
    if (bytes.length >= MIN_BYTES) rows.push(await compare(PDFParse, { name: file, bytes }));
  }
  console.table(rows);
  const measured = { 'pdf ratio': { value: Math.min(...rows.map(({ ratio }) => ratio)) } };
  return { figures: rows, measured };
}

async function compare(Reader: typeof PdfParse, { name, bytes }: { name: string; bytes: Uint8Array }) {
  const times = { ours: [] as Taken[], pdfParse: [] as Taken[] };
  let pages = 0;
  for (let i = 0; i <= ROUNDS; i += 1) {
    const ours = await timed(async () => {
      pages = await read(bytes);
    });
    const theirs = await timed(() => readWithPdfParse(Reader, bytes));
    if (i === 0) continue;
    times.ours.push(ours);
    times.pdfParse.push(theirs);
  }
  const [ours, pdfParse] = [least(times.ours), least(times.pdfParse)];
  return {
    file: name,
    pages,
    megabytes: round(bytes.length / 1e6),
    pagesPerSecond: round(pages / ours.seconds, 0),
    pdfParsePagesPerSecond: round(pages / pdfParse.seconds, 0),
    ratio: round(pdfParse.seconds / ours.seconds),
    processorMsPerPage: round((1_000 * ours.processor) / pages),
    pdfParseProcessorMsPerPage: round((1_000 * pdfParse.processor) / pages),
  };
}

/** The time of a reading, in seconds: of the clock, and of the processor in all threads. */
interface Taken {
  readonly seconds: number;
  readonly processor: number;
}

async function timed(action: () => Promise<void>): Promise<Taken> {
  const [started, before] = [performance.now(), process.cpuUsage()];
  await action();
  const { user, system } = process.cpuUsage(before);
  return { seconds: (performance.now() - started) / 1_000, processor: (user + system) / 1e6 };
}

const least = (all: readonly Taken[]): Taken => ({
  seconds: Math.min(...all.map(({ seconds }) => seconds)),
  processor: Math.min(...all.map(({ processor }) => processor)),
});

async function read(bytes: Uint8Array): Promise<number> {
  const receipt = createReceiptWriter();
  const options = { ...DEFAULT_READ_OPTIONS, ocr: 'off' } as const;
  const context = { filename: null, options, receipt };
  let characters = 0;
  for await (const { text } of parsePdf(bytes, context)) characters += text.length;
  if (characters === 0) throw new Error('no text was read');
  return receipt.findings().parts;
}

async function readWithPdfParse(Reader: typeof PdfParse, bytes: Uint8Array): Promise<void> {
  const pdf = new Reader({ data: bytes.slice() });
  try {
    await pdf.getText();
  } finally {
    await pdf.destroy();
  }
}
