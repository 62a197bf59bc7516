import type { FileFormat } from '../../../shared/documents/file-types.js';
import type { Parser } from './parser.js';

const loaders: Readonly<Record<FileFormat, () => Promise<Parser>>> = {
  text: async () => (await import('./text.js')).parseText,
  markdown: async () => (await import('./text.js')).parseText,
  html: async () => (await import('./html.js')).parseHtml,
  csv: async () => (await import('./csv.js')).parseCsv,
  json: async () => (await import('./json.js')).parseJson,
  pdf: async () => (await import('./pdf.js')).parsePdf,
  docx: async () => (await import('./office/docx.js')).parseDocx,
};

/** Returns the parser of a format, which is loaded on first use. */
export async function loadParser(format: FileFormat): Promise<Parser> {
  return await loaders[format]();
}

/** @throws when the code of a parser cannot be read */
export async function loadAllParsers(): Promise<void> {
  for (const load of Object.values(loaders)) await load();
}
