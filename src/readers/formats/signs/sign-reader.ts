import { createGapTally, type Nouns } from '../../receipt/gap-tally.js';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import { SIGN_TABLES, type SignTable } from './sign-tables.js';
import { firstGroup } from '../../blocks/matches.js';

/** Reads text in symbol fonts, whose letters stand for signs. */
export interface SignReader {
  /**
   * The text with the signs that it shows in its font, in Unicode. A character whose sign is not known is left out and
   * counted. @param font the name of the font; undefined where it is not known
   */
  read(text: string, font: string | undefined): string;
  /** Notes how many signs were left out. */
  report(): void;
}

const LOST: Nouns = [
  'sign of a symbol font whose meaning is not known',
  'signs of symbol fonts whose meaning is not known',
];

export function createSignReader(receipt: ReceiptWriter): SignReader {
  const tally = createGapTally(receipt);
  return {
    read: (text, font) => {
      const table = signsOf(font);
      if (table === undefined && !PRIVATE.test(text)) return text;
      const signs = readSigns(text, table);
      tally.add('garbled', LOST, { amount: signs.lost });
      return signs.text;
    },
    report: tally.report,
  };
}

/** The range where programs put the characters of symbol fonts, beside characters without a meaning in Unicode. */
const PRIVATE = /[\uf020-\uf0ff]/;
const PRIVATE_BASE = 0xf000;

/** Symbol fonts whose signs nobody has published in Unicode. */
const UNKNOWN_SIGNS: SignTable = new Map();
/** The families of symbol fonts, by their names without spaces, hyphens and styles. */
const FAMILIES: readonly (readonly [RegExp, SignTable])[] = [
  [/^(?:symbol(?:neu|mt|ps|std|neumt|set)*|standardsymbols(?:l|ps))$/, SIGN_TABLES.symbol],
  [/^wingdings1?$/, SIGN_TABLES.wingdings],
  [/^wingdings2$/, SIGN_TABLES.wingdings2],
  [/^wingdings3$/, SIGN_TABLES.wingdings3],
  [/^webdings$/, SIGN_TABLES.webdings],
  [/^(?:(?:itc)?zapfdingbats(?:itc|std)?|dingbats|monotypesorts|d050000l)$/, SIGN_TABLES.zapfdingbats],
  [/^(?:marlett|mtextra|bookshelfsymbol7|msoutlook|msreferencespecialty)$/, UNKNOWN_SIGNS],
];
const MAX_NAME_LENGTH = 80;
const tables = new Map<string, SignTable | undefined>();
const MAX_NAMES = 1_000;

/** The signs of a font by its name, which may have the mark of a subset (`ABCDEF+`), a style or a list of others behind it. */
export function signsOf(font: string | undefined): SignTable | undefined {
  if (font === undefined || font.length > MAX_NAME_LENGTH) return undefined;
  if (tables.has(font)) return tables.get(font);
  const name = font
    .replace(/^[A-Z]{6}\+/, '')
    .toLowerCase()
    .replace(/["'\s_]/g, '')
    .replace(/[-,](?:regular|roman|normal|bold|italic|oblique|medium|light|mt|[-,]){0,6}$/, '')
    .replace(/-/g, '');
  const table = FAMILIES.find(([family]) => family.test(name))?.[1];
  if (tables.size < MAX_NAMES) tables.set(font, table);
  return table;
}

/**
 * Returns the signs of a text. Where some are in the private use area, the letters beside them are text.
 * @param table the signs of the font; undefined for a font that is no known symbol font
 */
function readSigns(text: string, table: SignTable | undefined): { text: string; lost: number } {
  let lost = 0;
  let read = '';
  const isMixed = PRIVATE.test(text);
  const hasWords = table !== SIGN_TABLES.symbol && holdsWord(text);
  for (const character of text) {
    const isText = (isMixed && !PRIVATE.test(character)) || (hasWords && character < '\x80');
    const sign = isText ? character : signOf(character, table);
    if (sign === undefined) lost += 1;
    else read += sign;
  }
  return { text: read, lost };
}

const WORD = /([a-z]{4,40})/i;

/**
 * Tells whether pictures are unlikely to be meant: LibreOffice writes the text beside a sign that it has read from a Word
 * file in the font of the sign. A row of signs has no vowels between consonants.
 */
function holdsWord(text: string): boolean {
  const word = firstGroup(WORD, text).toLowerCase();
  return /[aeiouy]/.test(word) && new Set(word).size > 2;
}

/**
 * Returns the sign of a character; undefined where that is not known. Spaces and signs that a font borrows from others
 * stay.
 */
function signOf(character: string, table: SignTable | undefined): string | undefined {
  const code = character.charCodeAt(0);
  if (code <= 0x20 || code === 0xa0) return character;
  if (code > 0xff) {
    if (code < 0xe000 || code > 0xf8ff) return character;
    if (table === undefined) return PRIVATE.test(character) ? undefined : character;
    return table.get(code - PRIVATE_BASE);
  }
  return table === undefined ? character : table.get(code);
}

/** Signs that say something of an item, such as whether it is done. */
const TELLING = /^[☐☑☒✓✔✗✘]$/;

/**
 * Returns the mark before an item of a list, with a space. The mark of a plain bullet tells nothing about it.
 * @param sign the text of the bullet. @param font the name of its font; undefined where it is not known
 */
export function bulletMark(sign: string, font?: string): string {
  const shown = readSigns(sign.trim(), signsOf(font)).text;
  return TELLING.test(shown) ? `- ${shown} ` : '- ';
}
