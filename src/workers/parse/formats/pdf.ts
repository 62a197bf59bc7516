import './pdf-globals.js';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PasswordException, PDFParse, VerbosityLevel } from 'pdf-parse';
import { IngestError } from '../../../shared/errors.js';
import type { Block } from '../extraction/block.js';
import { isMisread, repairMisread } from './pdf-repair.js';

const resources = dirname(
  createRequire(createRequire(import.meta.url).resolve('pdf-parse')).resolve('pdfjs-dist/package.json'),
);

/** Parses PDF page by page. A page that cannot be read is left out. */
export async function* parsePdf(bytes: Uint8Array): AsyncIterable<Block> {
  const pdf = new PDFParse({
    data: bytes,
    verbosity: VerbosityLevel.ERRORS,
    isEvalSupported: false,
    useSystemFonts: false,
    disableFontFace: true,
    isOffscreenCanvasSupported: false,
    cMapUrl: join(resources, 'cmaps/'),
    cMapPacked: true,
    standardFontDataUrl: join(resources, 'standard_fonts/'),
    wasmUrl: join(resources, 'wasm/'),
  });
  try {
    const pages = await countPages(pdf);
    let firstFailure: unknown;
    let failures = 0;
    for (let page = 1; page <= pages; page += 1) {
      try {
        yield { text: `${tidyPage(await pageText(pdf, page))}\n\n`, place: { page } };
      } catch (error) {
        firstFailure ??= error;
        failures += 1;
      }
    }
    if (failures === pages) throw failureOf(firstFailure);
  } finally {
    await pdf.destroy();
  }
}

/** pdf.js reports failed allocations as ordinary errors, so they are recognized by their messages. */
function failureOf(cause: unknown): IngestError {
  const isMemory =
    cause instanceof Error && /allocation failed|invalid (?:typed )?array length/i.test(cause.message);
  return isMemory
    ? new IngestError('too_large', 'The document needs more memory than a parser has.', { cause })
    : new IngestError('corrupt', 'The PDF file is damaged.', { cause });
}

async function pageText(pdf: PDFParse, page: number): Promise<string> {
  const { text } = await pdf.getText({ partial: [page], pageJoiner: '' });
  if (!isMisread(text)) return text;
  const raw = await pdf.getText({ partial: [page], pageJoiner: '', disableNormalization: true });
  return repairMisread(raw.text) ?? text;
}

async function countPages(pdf: PDFParse): Promise<number> {
  try {
    // Page -1 does not exist, so no page is read yet.
    const { total } = await pdf.getText({ partial: [-1] });
    return total;
  } catch (error) {
    if (error instanceof PasswordException)
      throw new IngestError('encrypted', 'The PDF file is protected by a password.', { cause: error });
    throw new IngestError('corrupt', 'The PDF file is damaged.', { cause: error });
  }
}

/** Joins words that are hyphenated at line ends, and keeps the lines. */
function tidyPage(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/(\p{Ll})[-\u00ad]\n(\p{Ll})/gu, '$1$2')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
