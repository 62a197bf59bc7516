import { decodeText } from '../../encoding/decode-text.js';
import { parseStyleSheet, type StyleSheet } from '../html/style-rules.js';
import type { LoadStyleSheet } from '../html/visibility.js';
import { memberPath } from '../zip/member-path.js';
import { readMember, type Zip } from '../zip/zip.js';

const MAX_BYTES = 1024 * 1024;
/** Most style sheets of a book that are read. */
const MAX_SHEETS = 100;
/** Most selectors that all chapters of a book take from their style sheets. */
const MAX_SELECTORS = 1_000_000;
const NO_STYLES = parseStyleSheet('');

/** A style sheet, and how many selectors it has. */
interface BookSheet {
  readonly sheet: StyleSheet;
  readonly selectors: number;
}

/**
 * Reads the style sheets of a book, each once, when a chapter links to it. Further links of a chapter to it change nothing.
 * Sheets outside of the book, and sheets beyond the bounds, are not read.
 */
export function createBookSheets(zip: Zip): (chapter: string) => LoadStyleSheet {
  const known = new Map<string, BookSheet | undefined>();
  let taken = 0;
  const load = (path: string): BookSheet | undefined => {
    if (!known.has(path) && known.size < MAX_SHEETS) known.set(path, readSheet(zip, path));
    return known.get(path);
  };
  return (chapter) => {
    const linked = new Set<string>();
    return (reference) => {
      if (/^[a-z][a-z\d+.-]*:/i.test(reference)) return undefined;
      const path = memberPath(reference, chapter);
      if (linked.has(path)) return NO_STYLES;
      const found = load(path);
      if (!found || taken + found.selectors > MAX_SELECTORS) return undefined;
      linked.add(path);
      taken += found.selectors;
      return found.sheet;
    };
  };
}

function readSheet(zip: Zip, path: string): BookSheet | undefined {
  const bytes = readMember(zip, path, MAX_BYTES);
  if (!bytes) return undefined;
  const sheet = parseStyleSheet(decodeText(bytes));
  return { sheet, selectors: sheet.rules.reduce((sum, { subjects }) => sum + subjects.length, 0) };
}
