import { at } from '../at.js';
import { startsAsHtml } from './html-start.js';

/**
 * The formats that Quire reads. A new format is an entry in this table and a parser of the same name in
 * `src/workers/parse/formats/`.
 */
const FORMATS = {
  text: { contentType: 'text/plain', aliases: [], extensions: ['txt', 'text', 'log'] },
  markdown: {
    contentType: 'text/markdown',
    aliases: ['text/x-markdown'],
    extensions: ['md', 'markdown', 'mdown'],
  },
  html: {
    contentType: 'text/html',
    aliases: ['application/xhtml+xml'],
    extensions: ['html', 'htm', 'xhtml'],
  },
  csv: {
    contentType: 'text/csv',
    aliases: ['application/csv', 'text/tab-separated-values'],
    extensions: ['csv', 'tsv', 'tab'],
  },
  json: {
    contentType: 'application/json',
    aliases: ['text/json', 'application/x-ndjson', 'application/jsonl', 'application/ld+json'],
    extensions: ['json', 'jsonl', 'ndjson', 'geojson'],
  },
  pdf: { contentType: 'application/pdf', aliases: ['application/x-pdf'], extensions: ['pdf'] },
  docx: {
    contentType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    aliases: [],
    extensions: ['docx', 'docm', 'dotx'],
  },
} as const;

export type FileFormat = keyof typeof FORMATS;
export interface FileType {
  readonly format: FileFormat;
  readonly contentType: string;
}

interface FormatEntry {
  readonly contentType: string;
  readonly aliases: readonly string[];
  readonly extensions: readonly string[];
}

const ENTRIES: readonly (readonly [FileFormat, FormatEntry])[] = [
  ['text', FORMATS.text],
  ['markdown', FORMATS.markdown],
  ['html', FORMATS.html],
  ['csv', FORMATS.csv],
  ['json', FORMATS.json],
  ['pdf', FORMATS.pdf],
  ['docx', FORMATS.docx],
];

/** How many bytes of a file's beginning `detectFileType` reads. A shorter file is passed whole. */
export const DETECTION_BYTES = 65_536;
export const KNOWN_CONTENT_TYPES: readonly string[] = ENTRIES.map(([, { contentType }]) => contentType);

/** Text in formats that are not read yet. As plain text it would be noise. */
const UNREAD_TEXT =
  /^(?:\{\\rtf|%!PS|MIME-Version:|From \S+ \S+ \S+ +\d|(?:Received|Return-Path|Delivered-To|Message-ID): )/i;
const UNREAD_EXTENSIONS = new Set([
  'rtf',
  'eml',
  'mbox',
  'msg',
  'xml',
  'svg',
  'ps',
  'doc',
  'xls',
  'ppt',
  'zip',
  'epub',
]);
const UNREAD_TYPES = new Set(['message/rfc822', 'application/rtf', 'text/rtf', 'application/mbox']);

/**
 * Detects the type of a file by its first `DETECTION_BYTES` bytes, else by its extension, else by what the
 * client said. Null when Quire does not read it. An encrypted office file is `docx`, since that parser
 * recognises it, and so is a broken file with that extension.
 */
export function detectFileType(
  head: Uint8Array,
  filename: string | null,
  declared: string | null,
): FileType | null {
  const extension = /\.([A-Za-z0-9]+)$/.exec(filename ?? '')?.[1]?.toLowerCase() ?? '';
  const declaredType = declared?.split(';')[0]?.trim().toLowerCase() ?? '';
  const named = formatByExtension(extension) ?? formatByContentType(declaredType);
  const format = detectBinary(head, named) ?? detectText(head, { extension, declaredType, named });
  return format === null ? null : { format, contentType: FORMATS[format].contentType };
}

/** The format of a content type that `detectFileType` has returned. */
export function formatOf(contentType: string): FileFormat | undefined {
  return formatByContentType(contentType);
}

function formatByExtension(extension: string): FileFormat | undefined {
  return ENTRIES.find(([, entry]) => entry.extensions.includes(extension))?.[0];
}

function formatByContentType(contentType: string): FileFormat | undefined {
  return ENTRIES.find(
    ([, entry]) => entry.contentType === contentType || entry.aliases.includes(contentType),
  )?.[0];
}

/** Formats that the bytes decide. Null is a known format that is not read; undefined may be text. */
function detectBinary(head: Uint8Array, named: FileFormat | undefined): FileFormat | null | undefined {
  const latin = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1');
  if (latin.slice(0, 1024).includes('%PDF-')) return 'pdf';
  if (/^PK(?:\x03\x04|\x05\x06|\x07\x08)/.test(latin)) return detectZip(latin, named);
  if (latin.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) {
    const holdsPackage = latin.includes('E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0');
    return holdsPackage || named === 'docx' ? 'docx' : null;
  }
  if (head.length > 0 && (named === 'pdf' || named === 'docx')) return looksBinary(head) ? named : undefined;
  return undefined;
}

/** The names of the first members tell a Word file from other zips. Where they do not, the file's own name does. */
function detectZip(latin: string, named: FileFormat | undefined): FileFormat | null {
  if (latin.includes('word/')) return 'docx';
  const isOther = /(?:xl|ppt|visio)\/|mimetypeapplication\/(?:epub|vnd\.oasis)|META-INF\//.test(latin);
  return named === 'docx' && !isOther ? 'docx' : null;
}

interface Names {
  readonly extension: string;
  readonly declaredType: string;
  readonly named: FileFormat | undefined;
}

function detectText(head: Uint8Array, { extension, declaredType, named }: Names): FileFormat | null {
  if (UNREAD_EXTENSIONS.has(extension)) return null;
  if (looksBinary(head)) return null;
  // Apart from the zeros of two-byte encodings, the markers are ASCII in every encoding.
  const start = Buffer.from(head.subarray(0, 4096))
    .toString('latin1')
    .replace(/\0|^\xef\xbb\xbf|^\xff\xfe|^\xfe\xff/g, '')
    .trimStart();
  if (start === '') return named ?? 'text';
  if (UNREAD_TEXT.test(start) || UNREAD_TYPES.has(declaredType)) return null;
  if (startsAsHtml(start)) return 'html';
  if (start.startsWith('<?xml') && named !== 'html') return null;
  if (named === 'pdf' || named === 'docx') return named;
  if (named !== undefined) return named;
  return /^(?:\{\s*["}]|\[\s*[[{"\]\d])/.test(start) ? 'json' : 'text';
}

const ALLOWED_CONTROLS = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1b]);

/** Whether the bytes are text in no encoding: they have zeros without a pattern, or many control characters. */
function looksBinary(head: Uint8Array): boolean {
  const startsWide = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  const zerosAt = [0, 0, 0, 0];
  let controls = 0;
  // The loop goes by index, because an iterator can make a pair for each byte.
  for (let index = 0; index < head.length; index += 1) {
    const byte = head[index] ?? 0;
    if (byte === 0) zerosAt[index % 4] = at(zerosAt, index % 4) + 1;
    else if (byte < 0x20 && !ALLOWED_CONTROLS.has(byte)) controls += 1;
  }
  const zeros = zerosAt.reduce((sum, count) => sum + count, 0);
  if (startsWide || (head[0] === 0 && head[1] === 0 && head[2] === 0xfe && head[3] === 0xff))
    return controls > head.length / 8;
  if (zeros > 0) {
    const [first = 0, second = 0, third = 0, fourth = 0] = zerosAt;
    const even = first + third;
    const odd = second + fourth;
    const isTwoByte = zeros > head.length / 16 && Math.min(even, odd) <= zeros / 50;
    const isFourByte = zeros >= head.length * 0.7 && (first === 0 || fourth === 0);
    // One or two stray zeros in a text are tolerated.
    if (!isTwoByte && !isFourByte && zeros > Math.max(2, head.length / 1000)) return true;
  }
  return controls > Math.max(1, head.length / 50);
}
