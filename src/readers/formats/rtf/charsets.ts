import { decodeAs } from '../../encoding/decode-as.js';
import { encodingOfCodePage } from '../../encoding/labels.js';

/** The code pages of the character sets that fonts name (RTF 1.9.1, `\fcharset`). */
const CODE_PAGES: ReadonlyMap<number, number> = new Map([
  [77, 10_000],
  [128, 932],
  [129, 949],
  [130, 949],
  [134, 936],
  [136, 950],
  [161, 1253],
  [162, 1254],
  [163, 1258],
  [177, 1255],
  [178, 1256],
  [186, 1257],
  [204, 1251],
  [222, 874],
  [238, 1250],
  [254, 437],
  [255, 850],
]);

/** Returns the encoding of a font's character set; undefined for the encoding of the document. */
export function codePageOfCharset(charset: number): string | undefined {
  const number = CODE_PAGES.get(charset);
  return number === undefined ? undefined : encodingOfCodePage(number);
}

/** Languages by the numbers that Windows gives them, as BCP 47. */
const LANGUAGES: ReadonlyMap<number, string> = new Map([
  [1025, 'ar-SA'],
  [1028, 'zh-TW'],
  [1029, 'cs-CZ'],
  [1030, 'da-DK'],
  [1031, 'de-DE'],
  [1032, 'el-GR'],
  [1033, 'en-US'],
  [1034, 'es-ES'],
  [1035, 'fi-FI'],
  [1036, 'fr-FR'],
  [1037, 'he-IL'],
  [1038, 'hu-HU'],
  [1040, 'it-IT'],
  [1041, 'ja-JP'],
  [1042, 'ko-KR'],
  [1043, 'nl-NL'],
  [1044, 'nb-NO'],
  [1045, 'pl-PL'],
  [1046, 'pt-BR'],
  [1049, 'ru-RU'],
  [1053, 'sv-SE'],
  [1055, 'tr-TR'],
  [1058, 'uk-UA'],
  [2052, 'zh-CN'],
  [2055, 'de-CH'],
  [2057, 'en-GB'],
  [2070, 'pt-PT'],
  [3079, 'de-AT'],
  [3082, 'es-ES'],
]);

export const languageOf = (number: number): string | undefined => LANGUAGES.get(number);

/** Bytes of text that wait to be decoded together: a character may consist of several, which are written one by one. */
export interface PendingBytes {
  add(bytes: Uint8Array, codePage: () => string): void;
  /** Leaves out that many characters, which repeat one in Unicode for readers that do not know it. */
  skip(count: number): void;
  /** Tells whether a character that is written as a control word is left out, and counts it then. */
  skipsCharacter(): boolean;
  /** The text of all bytes until now; undefined for none. */
  take(): string | undefined;
}

export function createPendingBytes(): PendingBytes {
  let pending: Uint8Array[] = [];
  let page = '';
  let toSkip = 0;
  return {
    add: (bytes, codePage) => {
      const skipped = Math.min(toSkip, bytes.length);
      toSkip -= skipped;
      if (skipped === bytes.length) return;
      page = codePage();
      pending.push(bytes.subarray(skipped));
    },
    skip: (count) => {
      toSkip = count;
    },
    skipsCharacter: () => {
      if (toSkip === 0) return false;
      toSkip -= 1;
      return true;
    },
    take: () => {
      if (pending.length === 0) return undefined;
      const text = decodeAs(Buffer.concat(pending), page);
      pending = [];
      return text;
    },
  };
}
