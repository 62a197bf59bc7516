import { scanMarkup, type MarkupHandler } from '../xml/read-markup.js';
import type { Zip } from '../zip/zip.js';
import { localName, type BookItem } from './package-document.js';
import { memberPath } from '../zip/member-path.js';
import { oneLine } from '../../blocks/one-line.js';

/** Most titles of chapters that are kept. */
const MAX_TITLES = 10_000;

/** Reads the tables of contents of a book, each member once: the titles of its chapters by the members that they begin in. */
export function readContents(zip: Zip, items: readonly BookItem[]): ReadonlyMap<string, string> {
  const titles = new Map<string, string>();
  for (const { path, mediaType } of new Map(items.map((item) => [item.path, item])).values()) {
    if (!zip.has(path)) continue;
    const add = (reference: string, label: string): void => {
      const member = memberPath(reference, path);
      const title = oneLine(label);
      if (title !== '' && !titles.has(member) && titles.size < MAX_TITLES) titles.set(member, title);
    };
    scanMarkup(zip.pieces(path), mediaType.includes('ncx') ? readNcx(add) : readNav(add));
  }
  return titles;
}

type AddTitle = (reference: string, label: string) => void;

/** The table of contents of EPUB 2: `navPoint` holds a label, then where it leads. */
function readNcx(add: AddTitle): MarkupHandler {
  let label = '';
  let isInLabel = false;
  return {
    open: (name, attributes) => {
      const local = localName(name);
      if (local === 'navLabel') {
        label = '';
        isInLabel = true;
      }
      if (local === 'content') add(attributes['src'] ?? '', label);
    },
    close: (name) => {
      if (localName(name) === 'navLabel') isInLabel = false;
    },
    text: (text) => {
      if (isInLabel) label += text;
    },
  };
}

/** The table of contents of EPUB 3: links within `nav`, whose other kinds are lists of pages and landmarks. */
function readNav(add: AddTitle): MarkupHandler {
  let isInContents = false;
  let reference: string | undefined;
  let label = '';
  return {
    open: (name, attributes) => {
      const local = localName(name);
      if (local === 'nav') isInContents = (attributes['epub:type'] ?? 'toc').split(' ').includes('toc');
      if (local !== 'a' || !isInContents) return;
      reference = attributes['href'];
      label = '';
    },
    close: (name) => {
      const local = localName(name);
      if (local === 'nav') isInContents = false;
      if (local !== 'a') return;
      if (reference !== undefined) add(reference, label);
      reference = undefined;
    },
    text: (text) => {
      if (reference !== undefined) label += text;
    },
  };
}
