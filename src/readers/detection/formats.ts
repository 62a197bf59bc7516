import { firstGroup } from '../blocks/matches.js';

interface FormatEntry {
  readonly kind: FormatKind;
  readonly contentType: string;
  readonly aliases: readonly string[];
  readonly extensions: readonly string[];
}

/**
 * The formats that Quire reads. A new format is an entry in this table, a rule that recognizes it in this folder if its
 * content tells, and a parser in `src/readers/formats/`.
 */
const FORMATS = {
  text: { kind: 'plain', contentType: 'text/plain', aliases: [], extensions: ['txt', 'text', 'log'] },
  markdown: {
    kind: 'plain',
    contentType: 'text/markdown',
    aliases: ['text/x-markdown'],
    extensions: ['md', 'markdown', 'mdown'],
  },
  html: {
    kind: 'plain',
    contentType: 'text/html',
    aliases: ['application/xhtml+xml'],
    extensions: ['html', 'htm', 'xhtml'],
  },
  csv: {
    kind: 'plain',
    contentType: 'text/csv',
    aliases: ['application/csv', 'text/tab-separated-values'],
    extensions: ['csv', 'tsv', 'tab'],
  },
  json: {
    kind: 'plain',
    contentType: 'application/json',
    aliases: ['text/json', 'application/x-ndjson', 'application/jsonl', 'application/ld+json'],
    extensions: ['json', 'jsonl', 'ndjson', 'geojson'],
  },
  xml: { kind: 'text', contentType: 'application/xml', aliases: ['text/xml'], extensions: ['xml', 'nxml'] },
  notebook: { kind: 'text', contentType: 'application/x-ipynb+json', aliases: [], extensions: ['ipynb'] },
  srt: { kind: 'text', contentType: 'application/x-subrip', aliases: ['text/srt'], extensions: ['srt'] },
  vtt: { kind: 'text', contentType: 'text/vtt', aliases: [], extensions: ['vtt'] },
  code: {
    kind: 'text',
    contentType: 'text/x-source-code',
    aliases: ['text/x-python', 'text/javascript', 'application/javascript', 'text/x-java-source', 'text/x-c'],
    extensions:
      'bash c cc cpp cs css cxx dart ex exs go h hpp hs java jl js jsx kt kts lua m mjs mm php pl pm proto ps1 py pyi r rb rs scala scss sh sol sql swift toml ts tsx vue yaml yml zig zsh'.split(
        ' ',
      ),
  },
  rtf: { kind: 'text', contentType: 'application/rtf', aliases: ['text/rtf'], extensions: ['rtf'] },
  // Web pages that browsers save in one file (mht) are mails, too.
  eml: {
    kind: 'text',
    contentType: 'message/rfc822',
    aliases: ['multipart/related', 'application/x-mimearchive'],
    extensions: ['eml', 'mht', 'mhtml'],
  },
  mbox: { kind: 'text', contentType: 'application/mbox', aliases: [], extensions: ['mbox'] },
  ics: { kind: 'text', contentType: 'text/calendar', aliases: ['application/ics'], extensions: ['ics'] },
  msg: { kind: 'binary', contentType: 'application/vnd.ms-outlook', aliases: [], extensions: ['msg'] },
  pdf: { kind: 'pages', contentType: 'application/pdf', aliases: ['application/x-pdf'], extensions: ['pdf'] },
  docx: {
    kind: 'package',
    contentType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    aliases: [],
    extensions: ['docx', 'docm', 'dotx'],
  },
  pptx: {
    kind: 'package',
    contentType: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    aliases: [],
    extensions: ['pptx', 'pptm', 'ppsx', 'potx'],
  },
  xlsx: {
    kind: 'package',
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    aliases: [],
    extensions: ['xlsx', 'xlsm', 'xltx'],
  },
  odt: {
    kind: 'package',
    contentType: 'application/vnd.oasis.opendocument.text',
    aliases: [],
    extensions: ['odt', 'ott'],
  },
  ods: {
    kind: 'package',
    contentType: 'application/vnd.oasis.opendocument.spreadsheet',
    aliases: [],
    extensions: ['ods', 'ots'],
  },
  odp: {
    kind: 'package',
    contentType: 'application/vnd.oasis.opendocument.presentation',
    aliases: [],
    extensions: ['odp', 'otp'],
  },
  epub: { kind: 'package', contentType: 'application/epub+zip', aliases: [], extensions: ['epub'] },
  png: { kind: 'picture', contentType: 'image/png', aliases: [], extensions: ['png'] },
  jpeg: { kind: 'picture', contentType: 'image/jpeg', aliases: ['image/jpg'], extensions: ['jpg', 'jpeg'] },
  tiff: { kind: 'picture', contentType: 'image/tiff', aliases: [], extensions: ['tif', 'tiff'] },
  webp: { kind: 'picture', contentType: 'image/webp', aliases: [], extensions: ['webp'] },
  bmp: {
    kind: 'picture',
    contentType: 'image/bmp',
    aliases: ['image/x-ms-bmp', 'image/x-bmp'],
    extensions: ['bmp', 'dib'],
  },
  gif: { kind: 'picture', contentType: 'image/gif', aliases: [], extensions: ['gif'] },
} as const satisfies Readonly<Record<string, FormatEntry>>;

export type FileFormat = keyof typeof FORMATS;

const isFormat = (name: string): name is FileFormat => Object.hasOwn(FORMATS, name);

const NAMES: readonly FileFormat[] = Object.keys(FORMATS).filter(isFormat);
const byContentType = new Map<string, FileFormat>();
const byExtension = new Map<string, FileFormat>();
for (const name of NAMES) {
  const entry: FormatEntry = FORMATS[name];
  for (const type of [entry.contentType, ...entry.aliases]) byContentType.set(type, name);
  for (const extension of entry.extensions) byExtension.set(extension, name);
}

export const KNOWN_CONTENT_TYPES: readonly string[] = NAMES.map((name) => FORMATS[name].contentType);

export const factsOf = (format: FileFormat): FormatFacts => FORMAT_KINDS[FORMATS[format].kind];

export const isPicture = (format: FileFormat): boolean => FORMATS[format].kind === 'picture';

export const contentTypeOf = (format: FileFormat): string => FORMATS[format].contentType;

/** The format of a content type that `detectFileType` has returned, or that a client states. */
export const formatOf = (contentType: string): FileFormat | undefined => byContentType.get(contentType);

/** The extension of a file's name in small letters, without its dot; empty where the name has none. */
export const extensionOf = (filename: string | null): string =>
  firstGroup(/\.([A-Za-z0-9]+)$/, filename).toLowerCase();

export const formatByExtension = (extension: string): FileFormat | undefined => byExtension.get(extension);

/** The facts that all files of a format share. */
interface FormatFacts {
  /** The nature of the bytes: `text` in some encoding, `zip`, or `binary`, which never looks like text, however broken. */
  readonly container: 'text' | 'zip' | 'binary';
  /** True if a file of blanks is an empty document. */
  readonly isEmptyWhenBlank: boolean;
  /** True if the time that a file takes depends on its length alone, so that short files need not wait behind slow ones. */
  readonly isLinear: boolean;
  /** True if repetitive text may be a hundred times as long as the file; the reader bounds the inflated bytes. */
  readonly isCompressed: boolean;
  /** True if compiled code reads the format, which a file may crash or take over. */
  readonly isNative: boolean;
  /** True if the pages can be shown as pictures. */
  readonly hasPages: boolean;
}

const TEXT = {
  container: 'text',
  isEmptyWhenBlank: false,
  isLinear: false,
  isCompressed: false,
  isNative: false,
  hasPages: false,
} as const satisfies FormatFacts;

/** The kinds of formats with their facts. Each format is of one kind, so that a new one cannot lack any of these facts. */
const FORMAT_KINDS = {
  plain: { ...TEXT, isEmptyWhenBlank: true, isLinear: true },
  text: TEXT,
  binary: { ...TEXT, container: 'binary' },
  package: { ...TEXT, container: 'zip', isCompressed: true },
  pages: { ...TEXT, container: 'binary', isCompressed: true, isNative: true, hasPages: true },
  picture: { ...TEXT, container: 'binary', isNative: true, hasPages: true },
} as const satisfies Readonly<Record<string, FormatFacts>>;

type FormatKind = keyof typeof FORMAT_KINDS;
