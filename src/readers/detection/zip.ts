import { factsOf, type FileFormat } from './formats.js';

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
export function detectZip(latin: string, named: FileFormat | undefined): FileFormat | null {
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
