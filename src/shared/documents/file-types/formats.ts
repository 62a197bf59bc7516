interface FormatEntry {
  readonly contentType: string;
  readonly aliases: readonly string[];
  readonly extensions: readonly string[];
}

/**
 * The formats that Quire reads. A new format is an entry in this table, a rule that recognizes it in this folder if its
 * content tells, and a parser in `src/workers/parse/formats/`.
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
  xml: { contentType: 'application/xml', aliases: ['text/xml'], extensions: ['xml'] },
  notebook: { contentType: 'application/x-ipynb+json', aliases: [], extensions: ['ipynb'] },
  srt: { contentType: 'application/x-subrip', aliases: ['text/srt'], extensions: ['srt'] },
  vtt: { contentType: 'text/vtt', aliases: [], extensions: ['vtt'] },
  code: {
    contentType: 'text/x-source-code',
    aliases: ['text/x-python', 'text/javascript', 'application/javascript', 'text/x-java-source', 'text/x-c'],
    extensions:
      'bash c cc cpp cs css cxx dart ex exs go h hpp hs java jl js jsx kt kts lua m mjs mm php pl pm proto ps1 py pyi r rb rs scala scss sh sol sql swift toml ts tsx vue yaml yml zig zsh'.split(
        ' ',
      ),
  },
  rtf: { contentType: 'application/rtf', aliases: ['text/rtf'], extensions: ['rtf'] },
  eml: { contentType: 'message/rfc822', aliases: [], extensions: ['eml'] },
  mbox: { contentType: 'application/mbox', aliases: [], extensions: ['mbox'] },
  msg: { contentType: 'application/vnd.ms-outlook', aliases: [], extensions: ['msg'] },
  pdf: { contentType: 'application/pdf', aliases: ['application/x-pdf'], extensions: ['pdf'] },
  docx: {
    contentType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    aliases: [],
    extensions: ['docx', 'docm', 'dotx'],
  },
  pptx: {
    contentType: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    aliases: [],
    extensions: ['pptx', 'pptm', 'ppsx', 'potx'],
  },
  xlsx: {
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    aliases: [],
    extensions: ['xlsx', 'xlsm', 'xltx'],
  },
  odt: { contentType: 'application/vnd.oasis.opendocument.text', aliases: [], extensions: ['odt', 'ott'] },
  ods: {
    contentType: 'application/vnd.oasis.opendocument.spreadsheet',
    aliases: [],
    extensions: ['ods', 'ots'],
  },
  odp: {
    contentType: 'application/vnd.oasis.opendocument.presentation',
    aliases: [],
    extensions: ['odp', 'otp'],
  },
  epub: { contentType: 'application/epub+zip', aliases: [], extensions: ['epub'] },
  png: { contentType: 'image/png', aliases: [], extensions: ['png'] },
  jpeg: { contentType: 'image/jpeg', aliases: ['image/jpg'], extensions: ['jpg', 'jpeg'] },
  tiff: { contentType: 'image/tiff', aliases: [], extensions: ['tif', 'tiff'] },
  webp: { contentType: 'image/webp', aliases: [], extensions: ['webp'] },
} as const satisfies Readonly<Record<string, FormatEntry>>;

export type FileFormat = keyof typeof FORMATS;

const NAMES = Object.keys(FORMATS) as readonly FileFormat[];
const byContentType = new Map<string, FileFormat>();
const byExtension = new Map<string, FileFormat>();
for (const name of NAMES) {
  const entry: FormatEntry = FORMATS[name];
  for (const type of [entry.contentType, ...entry.aliases]) byContentType.set(type, name);
  for (const extension of entry.extensions) byExtension.set(extension, name);
}

export const KNOWN_CONTENT_TYPES: readonly string[] = NAMES.map((name) => FORMATS[name].contentType);

export const contentTypeOf = (format: FileFormat): string => FORMATS[format].contentType;

/** The format of a content type that `detectFileType` has returned, or that a client states. */
export const formatOf = (contentType: string): FileFormat | undefined => byContentType.get(contentType);

export const formatByExtension = (extension: string): FileFormat | undefined => byExtension.get(extension);
