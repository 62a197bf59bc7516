/** An encoding that a file without a declaration may be in. */
export interface Candidate {
  readonly encoding: string;
  /** The languages that were written in it. */
  readonly languages: readonly string[];
  /** The bits by which this encoding is rarer than the most frequent one. */
  readonly rarity: number;
}

const split = (names: string): readonly string[] => names.split(' ');

const WESTERN = split('en de fr es it pt nl sv da nb fi ca is');
const CENTRAL = split('pl cs hu sk sl sh ro de');
const CYRILLIC = split('ru uk bg sr mk');
const BALTIC = split('lt lv');
const ALL = [
  ...new Set([
    ...WESTERN,
    ...CENTRAL,
    ...CYRILLIC,
    ...BALTIC,
    ...split('tr vi el he ar fa th ja ko zh zh-Hant'),
  ]),
];

export const CANDIDATES: readonly Candidate[] = [
  { encoding: 'windows-1252', languages: WESTERN, rarity: 0 },
  // It is one only where a few bytes of it are broken.
  { encoding: 'utf-8', languages: ALL, rarity: 0 },
  { encoding: 'windows-1251', languages: CYRILLIC, rarity: 3 },
  { encoding: 'gb18030', languages: ['zh', 'zh-Hant'], rarity: 3 },
  { encoding: 'shiftjis', languages: ['ja'], rarity: 3 },
  { encoding: 'windows-1250', languages: CENTRAL, rarity: 3 },
  { encoding: 'cp949', languages: ['ko'], rarity: 4 },
  { encoding: 'big5', languages: ['zh-Hant'], rarity: 4 },
  { encoding: 'euc-jp', languages: ['ja'], rarity: 4 },
  { encoding: 'windows-1253', languages: ['el'], rarity: 4 },
  { encoding: 'windows-1254', languages: ['tr'], rarity: 4 },
  { encoding: 'windows-1255', languages: ['he'], rarity: 4 },
  { encoding: 'windows-1256', languages: ['ar', 'fa'], rarity: 4 },
  { encoding: 'windows-874', languages: ['th'], rarity: 4 },
  { encoding: 'windows-1257', languages: BALTIC, rarity: 5 },
  { encoding: 'koi8-u', languages: ['ru', 'uk', 'bg'], rarity: 5 },
  { encoding: 'iso-8859-2', languages: CENTRAL, rarity: 5 },
  { encoding: 'iso-8859-7', languages: ['el'], rarity: 6 },
  { encoding: 'iso-8859-15', languages: WESTERN, rarity: 7 },
  { encoding: 'iso-8859-5', languages: CYRILLIC, rarity: 7 },
  { encoding: 'iso-8859-6', languages: ['ar'], rarity: 7 },
  { encoding: 'iso-8859-8', languages: ['he'], rarity: 7 },
  { encoding: 'windows-1258', languages: ['vi'], rarity: 7 },
  { encoding: 'cp850', languages: WESTERN, rarity: 8 },
  { encoding: 'cp852', languages: CENTRAL, rarity: 8 },
  { encoding: 'cp866', languages: CYRILLIC, rarity: 8 },
  { encoding: 'macintosh', languages: WESTERN, rarity: 9 },
  { encoding: 'macukraine', languages: CYRILLIC, rarity: 10 },
];

/** Encodings of two bytes a letter. */
export const WIDE_CANDIDATES: readonly Candidate[] = split('utf-16le utf-16be').map((encoding) => ({
  encoding,
  languages: ALL,
  rarity: 5,
}));
