import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import { withTexts } from '../with-items.js';
import { inflatedStreams } from './streams.js';
import { at } from '../../../../shared/at.js';

/** Encodings of Adobe whose codes are Unicode's (ISO 32000-1, 9.7.5.2). */
const ENCODING =
  /\/Encoding\s{0,9}\/Uni(?:JIS|JIS2004|JISX0213|JISX02132004|GB|KS|CNS)-(?:UCS2|UTF16)-(?:HW-)?[HV](?![\w-])/g;
const NAME = /\/BaseFont\s{0,9}\/([^\s/<>[\]()]{1,100})/;
const NAMES = new RegExp(NAME, 'g');
const SUFFIX = /-Uni[A-Z]\w{1,20}-(?:UCS2|UTF16)-(?:HW-)?[HV]$/;
/** The characters behind the name of an encoding, and before it, that are the rest of its dictionary. */
const AROUND = 500;
const BEFORE = 10_000;
const ASCII = /^[ -~]$/;

/** Returns the names of fonts whose codes are Unicode's, and which have no map of their own. */
export function unicodeFonts(bytes: Uint8Array): ReadonlySet<string> {
  const names = new Set<string>();
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const add = (objects: Buffer): void => {
    if (!objects.includes('/Uni')) return;
    const text = objects.toString('latin1');
    for (const { index } of text.matchAll(ENCODING)) {
      const end = text.indexOf('>>', index);
      const behind = text.slice(index, end < 0 ? index + AROUND : Math.min(end, index + AROUND));
      const ahead = text.slice(Math.max(text.lastIndexOf('endobj', index), index - BEFORE, 0), index);
      // The font that it is made of may stand within the dictionary, and has the same name.
      const name = NAME.exec(behind)?.[1] ?? [...ahead.matchAll(NAMES)].at(-1)?.[1];
      const dictionary = ahead.slice(Math.max(0, ahead.lastIndexOf('>>'))) + behind;
      if (name === undefined || dictionary.includes('/ToUnicode')) continue;
      names.add(name).add(name.replace(SUFFIX, ''));
    }
  };
  add(file);
  for (const objects of inflatedStreams(bytes, 'objects')) if (objects !== 'too large') add(objects);
  return names;
}

/**
 * Returns the page with the letters of ASCII that its codes say in texts of such fonts: where the font is not in the file,
 * the reader takes letters for others by the shapes of the font with which it replaces them (`03-1-34` for `03-1234`).
 */
export function withCodes(page: ParsedPage, fonts: ReadonlySet<string>): ParsedPage {
  const texts = new Map<TextItem, string>();
  if (fonts.size === 0) return page;
  for (const item of page.textItems) {
    if (item.fontName === undefined || !fonts.has(item.fontName)) continue;
    const text = textByCodes(item);
    if (text !== undefined && text !== item.text) texts.set(item, text);
  }
  return withTexts(page, texts);
}

/** The text by its codes; undefined where these do not stand for its characters one by one. */
function textByCodes({ text, charCodes = [] }: TextItem): string | undefined {
  if (charCodes.length < text.length) return undefined;
  let read = '';
  for (let place = 0; place < text.length; place += 1) {
    const character = text.charAt(place);
    const code = at(charCodes, place);
    const coded = String.fromCharCode(code);
    const isOwn = character === coded || !ASCII.test(coded);
    // Letters that the reader has taken for others are ASCII by their codes; any other character has to be the same by
    // both.
    if (isOwn && code !== 0 && character !== coded) return undefined;
    read += isOwn ? character : coded;
  }
  return read;
}
