import {
  extensionOf,
  contentTypeOf,
  formatByExtension,
  formatOf,
  factsOf,
  type FileFormat,
} from './formats.js';
import { isBinary } from './no-text.js';
import { detectText } from './text.js';
import { firstGroup } from '../blocks/matches.js';

export interface FileType {
  readonly format: FileFormat;
  readonly contentType: string;
}

/** The number of bytes of a file's beginning that `detectFileType` reads. A shorter file is passed whole. */
export const DETECTION_BYTES = 65_536;

/**
 * Detects the type of a file by its first `DETECTION_BYTES` bytes, else by its extension, else by the client's declaration.
 * Returns null when Quire does not read the type. A broken or encrypted file whose content does not tell its format has the
 * format of its name, since that parser says what is wrong with it.
 */
export function detectFileType(
  head: Uint8Array,
  filename: string | null,
  declared: string | null,
): FileType | null {
  const extension = extensionOf(filename);
  const declaredType = firstGroup(/^([^;]*)/, declared)
    .trim()
    .toLowerCase();
  const named = formatByExtension(extension) ?? formatOf(declaredType);
  const binary = detectBinary(head, named);
  const format = binary === undefined ? detectText(head, { extension, named }) : binary;
  return format === null ? null : { format, contentType: contentTypeOf(format) };
}

/** Returns advice about a file that `detectFileType` does not know; null when there is none. */
export function adviceFor(head: Uint8Array, filename: string | null): string | null {
  const modern = MODERN.get(extensionOf(filename));
  if (modern === undefined || !isBinary(head)) return null;
  return `save the file as ${modern}`;
}

/** The formats of Microsoft Office until 2003 and its binary workbooks, each with the format that is read in its place. */
const MODERN: ReadonlyMap<string, string> = new Map([
  ['doc', 'docx'],
  ['dot', 'docx'],
  ['xls', 'xlsx'],
  ['xlt', 'xlsx'],
  ['xlsb', 'xlsx'],
  ['ppt', 'pptx'],
  ['pps', 'pptx'],
]);

const PICTURES: readonly (readonly [RegExp, FileFormat])[] = [
  [/^\x89PNG\r\n\x1a\n/, 'png'],
  [/^\xff\xd8\xff/, 'jpeg'],
  [/^(?:II\x2a\0|MM\0\x2a)/, 'tiff'],
  [/^RIFF[^]{4}WEBP/, 'webp'],
  // Behind two letters is how long the headers are.
  [/^BM[^]{12}(?:\x0c|\x10|\x28|\x34|\x38|\x40|\x6c|\x7c)\0\0\0/, 'bmp'],
];

/** Formats that the bytes decide. Null is a known format that is not read; undefined may be text. */
function detectBinary(head: Uint8Array, named: FileFormat | undefined): FileFormat | null | undefined {
  const latin = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1');
  if (isPdf(latin, head, named)) return 'pdf';
  if (/^PK(?:\x03\x04|\x05\x06|\x07\x08)/.test(latin)) return detectZip(latin, named);
  if (latin.startsWith(COMPOUND)) return detectCompound(latin, named);
  // Little else shows that the stub of a program is none of the texts that are filled up with zeros.
  if (latin.startsWith(ELF)) return null;
  const picture = PICTURES.find(([start]) => start.test(latin.slice(0, 18)));
  if (picture) return picture[1];
  // A text may begin with the name of the format.
  if (/^GIF8[79]a/.test(latin) && isBinary(head)) return 'gif';
  if (head.length > 0 && named && factsOf(named).container !== 'text')
    return isBinary(head) ? named : undefined;
  return undefined;
}

/**
 * Readers of PDF allow other bytes before its mark. But texts mention it, and a file that begins as another format may hold
 * a PDF.
 */
function isPdf(latin: string, head: Uint8Array, named: FileFormat | undefined): boolean {
  const at = latin.slice(0, 1024).indexOf('%PDF-');
  if (at === -1) return false;
  if (named === 'pdf' || /^(?:\xef\xbb\xbf)?\s*$/.test(latin.slice(0, at))) return true;
  return isBinary(head) && !OTHER_STARTS.some((start) => latin.startsWith(start));
}

const ZIP = 'PK\x03\x04';
const ELF = '\x7fELF';
const COMPOUND = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';
const OTHER_STARTS = [ZIP, COMPOUND, '\x89PNG', '\xff\xd8\xff', 'RIFF', 'II\x2a\0', 'MM\0\x2a', 'GIF8', 'BM'];

const OFFICE: ReadonlySet<FileFormat | undefined> = new Set<FileFormat>(['docx', 'pptx', 'xlsx']);
const wide = (text: string): string => Buffer.from(text, 'utf16le').toString('latin1');
const ENCRYPTED = wide('EncryptedPackage');
const MESSAGE = wide('__properties_version1.0');

/**
 * A compound file holds an encrypted office file, a message of Outlook, or an office file until 2003. The names of its
 * streams tell which, where they are among the first bytes.
 */
function detectCompound(latin: string, named: FileFormat | undefined): FileFormat | null {
  if (latin.includes(ENCRYPTED)) return named && OFFICE.has(named) ? named : 'docx';
  if (latin.includes(MESSAGE) || named === 'msg') return 'msg';
  return named && OFFICE.has(named) ? named : null;
}

/** The folder in which an office package keeps its parts. */
const FOLDERS: readonly (readonly [string, FileFormat])[] = [
  ['word/', 'docx'],
  ['ppt/', 'pptx'],
  ['xl/', 'xlsx'],
];

/** The beginning of a package whose first member is named `mimetype` and is not compressed, for each format. */
const MIMETYPES: readonly (readonly [RegExp, FileFormat])[] = [
  [/mimetypeapplication\/epub\+zip/, 'epub'],
  [/mimetypeapplication\/vnd\.oasis\.opendocument\.text(?:-template)?(?![\w-])/, 'odt'],
  [/mimetypeapplication\/vnd\.oasis\.opendocument\.spreadsheet/, 'ods'],
  [/mimetypeapplication\/vnd\.oasis\.opendocument\.presentation/, 'odp'],
];

/** Binary workbooks (xlsb) are packages like xlsx, but their parts are no XML. */
const BINARY_WORKBOOK = /^xl\/(?:workbook|sharedStrings|worksheets\/sheet\d+)\.bin$/;

/** Detects a package by its first members at the beginning of the zip. Where they do not tell, the file's own name does. */
function detectZip(latin: string, named: FileFormat | undefined): FileFormat | null {
  const stated = MIMETYPES.find(([pattern]) => pattern.test(latin.slice(0, 256)));
  if (stated) return stated[1];
  const names = memberNames(latin);
  if (names.some((name) => BINARY_WORKBOOK.test(name))) return null;
  const folder = FOLDERS.find(([start]) => names.some((name) => name.startsWith(start)));
  if (folder) return folder[1];
  const isOther = names.some((name) => /^(?:visio\/|META-INF\/MANIFEST\.MF$|AndroidManifest)/.test(name));
  return named && factsOf(named).container === 'zip' && !isOther ? named : null;
}

/** The names of the members that begin in these bytes. */
function memberNames(latin: string): string[] {
  const names: string[] = [];
  for (let at = latin.indexOf('PK\x03\x04'); at !== -1; at = latin.indexOf('PK\x03\x04', at + 4)) {
    const length = latin.charCodeAt(at + 26) + 256 * latin.charCodeAt(at + 27);
    if (length > 0 && length < 1024) names.push(latin.slice(at + 30, at + 30 + length));
  }
  return names;
}
