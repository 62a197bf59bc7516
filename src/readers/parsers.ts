import type { FileFormat } from './detection/formats.js';
import type { Parser } from './parser.js';

const parseText = async () => (await import('./formats/text/text.js')).parseText;
const parseSubtitles = async () => (await import('./formats/subtitles/subtitles.js')).parseSubtitles;
const parsePicture = async () => (await import('./formats/ocr/picture.js')).parsePicture;

const loaders: Readonly<Record<FileFormat, () => Promise<Parser>>> = {
  text: parseText,
  markdown: async () => (await import('./formats/text/markdown.js')).parseMarkdown,
  html: async () => (await import('./formats/html/html.js')).parseHtml,
  csv: async () => (await import('./formats/csv/csv.js')).parseCsv,
  json: async () => (await import('./formats/json/json.js')).parseJson,
  xml: async () => (await import('./formats/xml/xml.js')).parseXml,
  notebook: async () => (await import('./formats/notebook/ipynb.js')).parseNotebook,
  srt: parseSubtitles,
  vtt: parseSubtitles,
  code: async () => (await import('./formats/code/code.js')).parseCode,
  rtf: async () => (await import('./formats/rtf/rtf.js')).parseRtf,
  eml: async () => (await import('./formats/mail/eml.js')).parseEml,
  mbox: async () => (await import('./formats/mail/mbox.js')).parseMbox,
  ics: async () => (await import('./formats/calendar/calendar.js')).parseIcs,
  msg: async () => (await import('./formats/mail/msg.js')).parseMsg,
  pdf: async () => (await import('./formats/pdf/pdf.js')).parsePdf,
  docx: async () => (await import('./formats/ooxml/docx.js')).parseDocx,
  pptx: async () => (await import('./formats/ooxml/pptx.js')).parsePptx,
  xlsx: async () => (await import('./formats/ooxml/xlsx.js')).parseXlsx,
  odt: async () => (await import('./formats/odf/odf.js')).parseOdt,
  ods: async () => (await import('./formats/odf/odf.js')).parseOds,
  odp: async () => (await import('./formats/odf/odf.js')).parseOdp,
  epub: async () => (await import('./formats/epub/epub.js')).parseEpub,
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
