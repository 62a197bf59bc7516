import { IngestError } from '../../../shared/errors.js';
import type { FileFormat } from '../../../shared/documents/file-types/formats.js';
import type { Parser } from './parser.js';

const parseText = async () => (await import('./text.js')).parseText;
const parsePicture = async () => (await import('./ocr/picture.js')).parsePicture;
const notYet = (): Promise<Parser> =>
  Promise.resolve(() => {
    throw new IngestError('corrupt', 'This format is not read yet.');
  });

const loaders: Readonly<Record<FileFormat, () => Promise<Parser>>> = {
  text: parseText,
  markdown: parseText,
  html: async () => (await import('./html.js')).parseHtml,
  csv: async () => (await import('./csv.js')).parseCsv,
  json: async () => (await import('./json.js')).parseJson,
  xml: notYet,
  notebook: notYet,
  srt: notYet,
  vtt: notYet,
  code: parseText,
  rtf: notYet,
  eml: notYet,
  mbox: notYet,
  msg: notYet,
  pdf: async () => (await import('./pdf/pdf.js')).parsePdf,
  docx: async () => (await import('./office/docx.js')).parseDocx,
  pptx: notYet,
  xlsx: notYet,
  odt: notYet,
  ods: notYet,
  odp: notYet,
  epub: notYet,
  png: parsePicture,
  jpeg: parsePicture,
  tiff: parsePicture,
  webp: parsePicture,
};

/** Returns the parser of a format, which is loaded on first use. */
export async function loadParser(format: FileFormat): Promise<Parser> {
  return await loaders[format]();
}

/** @throws when the code of a parser cannot be read */
export async function loadAllParsers(): Promise<void> {
  for (const load of Object.values(loaders)) await load();
}
