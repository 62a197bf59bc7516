import './pdf-globals.js';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PasswordException, PDFParse, VerbosityLevel } from 'pdf-parse';
import { z } from 'zod';
import { passwordNeeded, pdfFailure, unknownEncryption } from './failures.js';
import { isMisread, repairMisread } from './judging/misread-text.js';

const require = createRequire(import.meta.url);
const pdfjs = createRequire(require.resolve('pdf-parse')).resolve('pdfjs-dist/package.json');
const resources = dirname(pdfjs);

export interface DocumentInfo {
  readonly title: string | undefined;
  readonly language: string | undefined;
}

/** A document as pdf.js reads it: slower than PDFium, and without boxes, but a hostile file cannot crash it. */
export interface PdfjsDocument {
  readonly pages: number;
  /** The text of a page, numbered from 1. @throws when it cannot be read */
  readonly pageText: (page: number) => Promise<string>;
  /** What the file says of itself; nothing where that is damaged. */
  readonly info: () => Promise<DocumentInfo>;
  readonly close: () => Promise<void>;
}

/** @throws IngestError when the file can never be read */
export async function openPdfjs(bytes: Uint8Array): Promise<PdfjsDocument> {
  // pdf.js takes the memory of what it is given, which other readers still need.
  const pdf = new PDFParse({
    data: bytes.slice(),
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
    return {
      pages: await countPages(pdf),
      pageText: (page) => pageText(pdf, page),
      info: () => infoOf(pdf),
      close: () => pdf.destroy(),
    };
  } catch (error) {
    await pdf.destroy();
    throw error;
  }
}

/** The version of pdf.js. */
export function pdfjsVersion(): string {
  return z.object({ version: z.string() }).parse(require(pdfjs)).version;
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
    if (error instanceof PasswordException) throw passwordNeeded(error);
    if (error instanceof Error && /^(?:unknown|unsupported) encryption/i.test(error.message))
      throw unknownEncryption(error);
    throw pdfFailure(error);
  }
}

const infoSchema = z.looseObject({
  Title: z.string().optional().catch(undefined),
  Language: z.string().optional().catch(undefined),
});

async function infoOf(pdf: PDFParse): Promise<DocumentInfo> {
  try {
    const { Title: title, Language: language } = infoSchema.parse((await pdf.getInfo()).info);
    return { title, language };
  } catch {
    return { title: undefined, language: undefined };
  }
}
