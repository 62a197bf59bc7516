import type { FileFormat } from '../../shared/file-types.js';
import type { Parser } from './parser.js';

/** The parser of each format, loaded when first needed. */
export async function loadParser(format: FileFormat): Promise<Parser> {
  switch (format) {
    case 'text':
    case 'markdown':
      return (await import('./text.js')).parseText;
    case 'html':
      return (await import('./html.js')).parseHtml;
    case 'csv':
      return (await import('./csv.js')).parseCsv;
    case 'json':
      return (await import('./json.js')).parseJson;
    case 'pdf':
      return (await import('./pdf.js')).parsePdf;
    case 'docx':
      return (await import('./docx.js')).parseDocx;
  }
}
