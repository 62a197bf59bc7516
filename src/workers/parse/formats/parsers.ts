import type { FileFormat } from '../../../shared/documents/file-types/formats.js';
import type { Parser } from './parser.js';

const parseText = async () => (await import('./text/text.js')).parseText;
const parseSubtitles = async () => (await import('./subtitles/subtitles.js')).parseSubtitles;
const parsePicture = async () => (await import('./ocr/picture.js')).parsePicture;

const loaders: Readonly<Record<FileFormat, () => Promise<Parser>>> = {
  text: parseText,
  markdown: async () => (await import('./text/markdown.js')).parseMarkdown,
  html: async () => (await import('./html/html.js')).parseHtml,
  csv: async () => (await import('./csv/csv.js')).parseCsv,
  json: async () => (await import('./json/json.js')).parseJson,
  xml: async () => (await import('./xml/xml.js')).parseXml,
  notebook: async () => (await import('./notebook/ipynb.js')).parseNotebook,
  srt: parseSubtitles,
  vtt: parseSubtitles,
  code: async () => (await import('./code/code.js')).parseCode,
  rtf: async () => (await import('./rtf/rtf.js')).parseRtf,
  eml: async () => (await import('./mail/eml.js')).parseEml,
  mbox: async () => (await import('./mail/mbox.js')).parseMbox,
  ics: async () => (await import('./calendar/ics.js')).parseIcs,
  msg: async () => (await import('./mail/msg.js')).parseMsg,
  pdf: async () => (await import('./pdf/pdf.js')).parsePdf,
  docx: async () => (await import('./ooxml/docx.js')).parseDocx,
  pptx: async () => (await import('./ooxml/pptx.js')).parsePptx,
  xlsx: async () => (await import('./ooxml/xlsx.js')).parseXlsx,
  odt: async () => (await import('./odf/odf.js')).parseOdt,
  ods: async () => (await import('./odf/odf.js')).parseOds,
  odp: async () => (await import('./odf/odf.js')).parseOdp,
  epub: async () => (await import('./epub/epub.js')).parseEpub,
  png: parsePicture,
  jpeg: parsePicture,
  tiff: parsePicture,
  webp: parsePicture,
  bmp: parsePicture,
  gif: parsePicture,
};

/** Returns the parser of a format, which is loaded on first use. */
export async function loadParser(format: FileFormat): Promise<Parser> {
  return await loaders[format]();
}

/** @throws when the code of a parser cannot be read */
export async function loadAllParsers(): Promise<void> {
  for (const load of Object.values(loaders)) await load();
}
