import { detectBinary } from './binary.js';
import { contentTypeOf, formatByExtension, formatOf, type FileFormat } from './formats.js';
import { isBinary } from './no-text.js';
import { detectText } from './text.js';

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
  const declaredType = declared?.split(';')[0]?.trim().toLowerCase() ?? '';
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

const extensionOf = (filename: string | null): string =>
  /\.([A-Za-z0-9]+)$/.exec(filename ?? '')?.[1]?.toLowerCase() ?? '';
