import type { FileFormat } from '../../src/readers/detection/formats.js';
import type { Location } from '../../src/readers/blocks/location.js';

type Kind = keyof Location;

/** The kinds of places that the location of text names, by format. Every chunk of a file names the first of these. */
export const PROMISED_PLACES: Readonly<Record<FileFormat, readonly Kind[]>> = {
  text: ['lines'],
  markdown: ['lines'],
  html: [],
  csv: ['rows'],
  json: ['lines'],
  xml: [],
  notebook: [],
  srt: ['lines'],
  vtt: ['lines'],
  code: ['lines'],
  rtf: [],
  eml: [],
  mbox: ['message'],
  ics: [],
  msg: [],
  pdf: ['pages', 'boxes'],
  docx: [],
  pptx: ['slides'],
  xlsx: ['sheet', 'rows'],
  odt: [],
  ods: ['sheet', 'rows'],
  odp: ['slides'],
  epub: ['chapter'],
  png: ['pages', 'boxes'],
  jpeg: ['pages', 'boxes'],
  tiff: ['pages', 'boxes'],
  webp: ['pages', 'boxes'],
  bmp: ['pages', 'boxes'],
  gif: ['pages', 'boxes'],
};

/** The places of a file's phrase: all its pages, rows and so on, each a number or a name. */
export type PhrasePlaces = Readonly<Partial<Record<Kind, readonly (string | number)[]>>>;

const firstPage: PhrasePlaces = { pages: [1] };
const firstSlide: PhrasePlaces = { slides: [1] };

/** The places of the phrases, taken from the files by other means than the parsers: pdf.js, line numbers, their XML. */
export const PHRASE_PLACES: Readonly<Record<string, PhrasePlaces>> = {
  'tika__testPDF.pdf': firstPage,
  'tika__testPDF_protected.pdf': { pages: [17] },
  'tika__testPDF_no_extract_no_accessibility_owner_empty.pdf': firstPage,
  'tika__testPDF_bad_page_303226.pdf': { pages: [11] },
  'tika__testPDF_acroform3.pdf': firstPage,
  'tika__testPDF_rotated.pdf': firstPage,
  'tika__testPDFTripleLangTitle.pdf': firstPage,
  'unst__pdf2image-memory-error-test-400p.pdf': { pages: [183, 186, 189, 192] },
  'unst__copy-protected.pdf': { pages: [2] },
  'unst__korean-text-with-tables.pdf': firstPage,
  'unst__layout-parser-paper-fast.pdf': { pages: [2] },
  'unst__header-test-doc.pdf': firstPage,
  'unst__fr_olap.pdf': { pages: [6] },
  'pdfjs__ArabicCIDTrueType.pdf': firstPage,
  'pdfjs__noembed-sjis.pdf': firstPage,
  'pdfjs__XiaoBiaoSong.pdf': firstPage,
  'pdfjs__helloworld-bad.pdf': firstPage,
  'pdfjs__xref_command_missing.pdf': firstPage,
  'pdfjs__Pages-tree-refs.pdf': firstPage,
  'pdfjs__copy_paste_ligatures.pdf': firstPage,
  'pdfjs__rotation.pdf': { pages: [2] },
  'pdfjs__pdfjs_wikipedia.pdf': firstPage,
  'tika__testPPT_various.pptx': firstSlide,
  'tika__testPPT_comment.pptx': firstSlide,
  'unst__fake-power-point-malformed.pptx': firstSlide,
  'tika__testEXCEL.xlsx': { sheet: ['Feuil1'], rows: [22] },
  'tika__testEXCEL.strict.xlsx': { sheet: ['Sheet Number 2'], rows: [1] },
  'tika__testEXCEL_phonetic.xlsx': { sheet: ['Sheet1'], rows: [13] },
  'tika__testFooter.ods': { sheet: ['Sheet1'], rows: [2] },
  'tika__testEPUB.epub': { chapter: ['Chapter 1', 'Chapter 2'] },
  'tika__testEmailWithPNGAtt.eml': { message: [1] },
  'tika__complex.mbox': { message: [1, 2, 3] },
  'unst__book-war-and-peace-1225p.txt': { lines: [32_795] },
  'unst__fake-text-utf-16-le.txt': { lines: [1] },
  'unst__umlauts-non-utf8.md': { lines: [1, 3] },
  'unst__README.md': { lines: [10] },
  'unst__stanley-cups-utf-16.csv': { rows: [1] },
};
