import iconv from 'iconv-lite';

/** The code pages of the character sets that fonts name (RTF 1.9.1, `\fcharset`). */
const CODE_PAGES: ReadonlyMap<number, string> = new Map([
  [77, 'macintosh'],
  [128, 'cp932'],
  [129, 'cp949'],
  [130, 'cp949'],
  [134, 'cp936'],
  [136, 'cp950'],
  [161, 'cp1253'],
  [162, 'cp1254'],
  [163, 'cp1258'],
  [177, 'cp1255'],
  [178, 'cp1256'],
  [186, 'cp1257'],
  [204, 'cp1251'],
  [222, 'cp874'],
  [238, 'cp1250'],
  [254, 'cp437'],
  [255, 'cp850'],
]);

/** The code page of a font's character set; undefined for that of the document. */
export const codePageOfCharset = (charset: number): string | undefined => CODE_PAGES.get(charset);

/** The name of a code page by its number; undefined for one that is not known. */
export function codePage(number: number): string | undefined {
  if (number === 65_001) return 'utf-8';
  const name = number === 10_000 ? 'macintosh' : `cp${String(number)}`;
  return iconv.encodingExists(name) ? name : undefined;
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
