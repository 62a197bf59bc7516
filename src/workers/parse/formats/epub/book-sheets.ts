import { decodeText } from '../decode-text.js';
import { parseStyleSheet, type StyleSheet } from '../html/style-rules.js';
import type { LoadStyleSheet } from '../html/visibility.js';
import { memberPath } from '../zip/member-path.js';
import type { Zip } from '../zip/zip.js';
import { readMember } from './read-member.js';

const MOST_BYTES = 1024 * 1024;
/** Most style sheets of a book that are read. */
const MOST_SHEETS = 100;

/** Reads the style sheets of a book, each once, when a chapter links to it. Those outside of the book are not read. */
export function createBookSheets(zip: Zip): (chapter: string) => LoadStyleSheet {
  const known = new Map<string, StyleSheet | undefined>();
  const load = (path: string): StyleSheet | undefined => {
    const bytes = readMember(zip, path, MOST_BYTES);
    return bytes && parseStyleSheet(decodeText(bytes));
  };
  return (chapter) => (reference) => {
    if (/^[a-z][a-z\d+.-]*:/i.test(reference)) return undefined;
    const path = memberPath(reference, chapter);
    if (!known.has(path) && known.size < MOST_SHEETS) known.set(path, load(path));
    return known.get(path);
  };
}
