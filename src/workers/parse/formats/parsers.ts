import { IngestError } from '../../../shared/errors.js';
import type { FileFormat } from '../../../shared/documents/file-types/formats.js';
import type { Parser } from './parser.js';

const parseText = async () => (await import('./text.js')).parseText;
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
  notebook: async () => (await import('./notebook/ipynb.js')).parseNotebook,
  srt: async () => (await import('./subtitles/subtitles.js')).parseSubtitles,
  vtt: async () => (await import('./subtitles/subtitles.js')).parseSubtitles,
  code: async () => (await import('./code/code.js')).parseCode,
  rtf: notYet,
  eml: async () => (await import('./mail/eml.js')).parseEml,
  mbox: async () => (await import('./mail/mbox.js')).parseMbox,
  msg: async () => (await import('./mail/msg.js')).parseMsg,
  pdf: async () => (await import('./pdf.js')).parsePdf,
  docx: async () => (await import('./ooxml/docx.js')).parseDocx,
  pptx: async () => (await import('./ooxml/pptx.js')).parsePptx,
  xlsx: async () => (await import('./ooxml/xlsx.js')).parseXlsx,
  odt: notYet,
  ods: notYet,
  odp: notYet,
  epub: notYet,
  png: notYet,
  jpeg: notYet,
  tiff: notYet,
  webp: notYet,
};

/** Returns the parser of a format, which is loaded on first use. */
export async function loadParser(format: FileFormat): Promise<Parser> {
  return await loaders[format]();
}

/** @throws when the code of a parser cannot be read */
export async function loadAllParsers(): Promise<void> {
  for (const load of Object.values(loaders)) await load();
}
