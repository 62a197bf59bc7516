import { ReadError } from '../../read-error.js';
import { localName } from '../xml/attributes.js';
import { attribute, scanMarkup, type Attributes } from '../xml/read-markup.js';
import type { Zip } from '../zip/zip.js';
import { memberPath } from '../zip/member-path.js';

/** An item of a book, as its manifest lists it. */
export interface BookItem {
  readonly path: string;
  readonly mediaType: string;
  readonly properties: string;
}

/** The content of a book's package document. */
export interface PackageDocument {
  readonly title: string;
  readonly language: string;
  /** The items in the order of reading; undefined for an item that the manifest does not list. */
  readonly spine: readonly (BookItem | undefined)[];
  /** The items that hold the table of contents. */
  readonly contents: readonly BookItem[];
  /** True if the document ends early, so that chapters may be missing. */
  readonly isCut: boolean;
}

const CONTAINER = 'META-INF/container.xml';
const NCX = 'application/x-dtbncx+xml';
const ignore = (): void => undefined;

/** Reads the package document of a book (EPUB 3.3, section 5). @throws ReadError `corrupt` when there is none */
export function readPackageDocument(zip: Zip): PackageDocument {
  const path = packagePath(zip);
  if (path === undefined || !zip.has(path))
    throw new ReadError('corrupt', 'The EPUB book has no package document in it.');
  const items = new Map<string, BookItem>();
  const spine: string[] = [];
  const texts = { title: '', language: '' };
  const begun = new Set<string>();
  let current: keyof typeof texts | undefined;
  const cuts: string[] = [];
  scanMarkup(zip.pieces(path), {
    open: (name, attributes) => {
      const local = localName(name);
      if (local === 'item') addItem(items, attributes, path);
      if (local === 'itemref') spine.push(attribute(attributes, 'idref'));
      // The first of several titles is the title of the book.
      current = (local === 'title' || local === 'language') && !begun.has(local) ? local : undefined;
      if (current) begun.add(current);
    },
    close: () => {
      current = undefined;
    },
    text: (text) => {
      if (current) texts[current] += text;
    },
    cut: () => void cuts.push(path),
  });
  return {
    title: texts.title,
    language: texts.language,
    spine: spine.map((id) => items.get(id)),
    contents: [...items.values()].filter(
      ({ mediaType, properties }) => mediaType === NCX || properties.split(' ').includes('nav'),
    ),
    isCut: cuts.length > 0,
  };
}

/** @param path of the package document, which items are named beside */
function addItem(items: Map<string, BookItem>, attributes: Attributes, path: string): void {
  const { id, href, properties = '' } = attributes;
  if (id === undefined || href === undefined) return;
  const mediaType = attribute(attributes, 'media-type');
  items.set(id, { path: memberPath(href, path), mediaType, properties });
}

/** Returns the path of the package document as the container gives it; else the first member with such a name. */
function packagePath(zip: Zip): string | undefined {
  const paths: string[] = [];
  if (zip.has(CONTAINER))
    scanMarkup(zip.pieces(CONTAINER), {
      open: (name, attributes) => {
        if (localName(name) === 'rootfile')
          paths.push(memberPath(`/${attribute(attributes, 'full-path')}`, ''));
      },
      close: ignore,
      text: ignore,
    });
  return paths.find((path) => zip.has(path)) ?? zip.names.find((name) => name.endsWith('.opf'));
}

/** Algorithms that hide fonts from copying. They leave the text of a book as it is. */
const OF_FONTS = new Set(['http://www.idpf.org/2008/embedding', 'http://ns.adobe.com/pdf/enc#RC']);

/** @throws ReadError `encrypted` when more than the fonts of a book is encrypted */
export function refuseEncrypted(zip: Zip): void {
  if (!zip.has('META-INF/encryption.xml')) return;
  const algorithms: string[] = [];
  let isInKey = false;
  scanMarkup(zip.pieces('META-INF/encryption.xml'), {
    open: (name, attributes) => {
      const local = localName(name);
      if (local === 'EncryptedKey') isInKey = true;
      if (local === 'EncryptionMethod' && !isInKey) algorithms.push(attribute(attributes, 'Algorithm'));
    },
    close: (name) => {
      if (localName(name) === 'EncryptedKey') isInKey = false;
    },
    text: ignore,
  });
  if (algorithms.some((algorithm) => !OF_FONTS.has(algorithm)))
    throw new ReadError('encrypted', 'The EPUB book is protected against copying.');
}
