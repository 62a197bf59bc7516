import iconv from 'iconv-lite';

/**
 * The encodings of the WHATWG Encoding Standard (https://encoding.spec.whatwg.org/#names-and-labels) by the names that they
 * have here, each with its labels. Those that the standard replaces, since scripts could be smuggled in them, are read here:
 * old Korean and Chinese mails are written so.
 */
const LABELS: Readonly<Record<string, string>> = {
  'utf-8': 'unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8',
  'utf-7': 'utf-7 unicode-1-1-utf-7 csunicode11utf7 unicode-2-0-utf-7',
  'utf-16le': 'csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le',
  'utf-16be': 'unicodefffe utf-16be',
  'utf-32le': 'utf-32 utf-32le ucs-4 iso-10646-ucs-4',
  'utf-32be': 'utf-32be',
  cp866: '866 cp866 csibm866 ibm866',
  'iso-8859-2': 'csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2',
  'iso-8859-3': 'csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3',
  'iso-8859-4': 'csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4',
  'iso-8859-5':
    'csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988',
  'iso-8859-6':
    'arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987',
  'iso-8859-7':
    'csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek',
  'iso-8859-8':
    'csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical',
  'iso-8859-10': 'csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6',
  'iso-8859-13': 'iso-8859-13 iso8859-13 iso885913',
  'iso-8859-14': 'iso-8859-14 iso8859-14 iso885914',
  'iso-8859-15': 'csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9 latin9',
  'iso-8859-16': 'iso-8859-16',
  'koi8-r': 'cskoi8r koi koi8 koi8-r koi8_r',
  'koi8-u': 'koi8-ru koi8-u',
  macintosh: 'csmacintosh mac macintosh x-mac-roman',
  'windows-874': 'dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874',
  'windows-1250': 'cp1250 windows-1250 x-cp1250',
  'windows-1251': 'cp1251 windows-1251 x-cp1251',
  'windows-1252':
    'ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252',
  'windows-1253': 'cp1253 windows-1253 x-cp1253',
  'windows-1254':
    'cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 windows-1254 x-cp1254',
  'windows-1255': 'cp1255 windows-1255 x-cp1255',
  'windows-1256': 'cp1256 windows-1256 x-cp1256',
  'windows-1257': 'cp1257 windows-1257 x-cp1257',
  'windows-1258': 'cp1258 windows-1258 x-cp1258',
  macukraine: 'x-mac-cyrillic x-mac-ukrainian',
  gb18030:
    'gb18030 chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk cp936 ms936 windows-936',
  big5: 'big5 big5-hkscs cn-big5 csbig5 x-x-big5 cp950 windows-950',
  'euc-jp': 'cseucpkdfmtjapanese euc-jp x-euc-jp cp51932',
  shiftjis:
    'csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis cp932 windows-932 cp943 x-ms-cp932',
  cp949:
    'cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601 ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949 cp949 uhc ms949',
  'iso-2022-jp':
    'csiso2022jp iso-2022-jp iso-2022-jp-1 iso-2022-jp-2 iso-2022-jp-3 iso-2022-jp-ms cp50220 cp50221 cp50222 junet jis',
  'iso-2022-kr': 'csiso2022kr iso-2022-kr',
  'iso-2022-cn': 'iso-2022-cn iso-2022-cn-ext',
  'hz-gb-2312': 'hz-gb-2312 hz',
};

/** Labels as people and programs misspell them: without signs, and without the prefixes of some programs. */
const plain = (label: string): string =>
  label.replace(/^(?:x-ms-|x-|cs)(?=[a-z])/, '').replace(/[^a-z0-9]+/g, '');

const EXACT = new Map<string, string>();
const PLAIN = new Map<string, string>();
for (const [encoding, labels] of Object.entries(LABELS))
  for (const label of labels.split(' ')) {
    EXACT.set(label, encoding);
    PLAIN.set(plain(label), encoding);
  }

const MAX_LABEL_LENGTH = 60;
/** Code pages of old computers that iconv-lite has tables of and the standard has no label for. */
const CODE_PAGE = /^(?:cp|ibm|windows|dos|ms|codepage)?0*(\d{3,5})$/;

/** Returns the encoding that a label means; undefined for a label without a meaning, such as `x-unknown` or `default`. */
export function encodingOf(label: string): string | undefined {
  const written = label
    .slice(0, MAX_LABEL_LENGTH)
    .toLowerCase()
    .replace(/[\s"'=;,]/g, '');
  const known = EXACT.get(written) ?? PLAIN.get(plain(written));
  if (known !== undefined) return known;
  const number = CODE_PAGE.exec(plain(written))?.[1];
  return number === undefined ? undefined : encodingOfCodePage(Number(number));
}

/** Returns the encoding of a code page of Windows or DOS by its number; undefined for an unknown number. */
export function encodingOfCodePage(number: number): string | undefined {
  const special = CODE_PAGES.get(number);
  if (special !== undefined) return special;
  const name = `cp${String(number)}`;
  return EXACT.get(name) ?? (iconv.encodingExists(name) ? name : undefined);
}

/** Numbers that are in no label of the standard (https://learn.microsoft.com/windows/win32/intl/code-page-identifiers). */
const CODE_PAGES: ReadonlyMap<number, string> = new Map([
  [874, 'windows-874'],
  [1200, 'utf-16le'],
  [1201, 'utf-16be'],
  [10_000, 'macintosh'],
  [10_007, 'macukraine'],
  [20_127, 'windows-1252'],
  [20_866, 'koi8-r'],
  [20_932, 'euc-jp'],
  [20_936, 'gb18030'],
  [20_949, 'cp949'],
  [21_866, 'koi8-u'],
  [28_591, 'windows-1252'],
  [28_592, 'iso-8859-2'],
  [28_593, 'iso-8859-3'],
  [28_594, 'iso-8859-4'],
  [28_595, 'iso-8859-5'],
  [28_596, 'iso-8859-6'],
  [28_597, 'iso-8859-7'],
  [28_598, 'iso-8859-8'],
  [28_599, 'windows-1254'],
  [28_603, 'iso-8859-13'],
  [28_605, 'iso-8859-15'],
  [38_598, 'iso-8859-8'],
  [50_220, 'iso-2022-jp'],
  [50_221, 'iso-2022-jp'],
  [50_222, 'iso-2022-jp'],
  [50_225, 'iso-2022-kr'],
  [50_227, 'iso-2022-cn'],
  [51_932, 'euc-jp'],
  [51_936, 'gb18030'],
  [51_949, 'cp949'],
  [52_936, 'hz-gb-2312'],
  [54_936, 'gb18030'],
  [65_000, 'utf-7'],
  [65_001, 'utf-8'],
]);
