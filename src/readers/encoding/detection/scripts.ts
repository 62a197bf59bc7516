/** Writing systems, as far as encodings differ by them. */
export type Script = 'latin' | 'greek' | 'cyrillic' | 'hebrew' | 'arabic' | 'thai' | 'east-asian' | 'other';

/** The ranges of the letters of scripts in Unicode, first and last. */
const RANGES: readonly (readonly [number, number, Script])[] = [
  [0x41, 0x24f, 'latin'],
  [0x300, 0x36f, 'latin'],
  [0x370, 0x3ff, 'greek'],
  [0x400, 0x52f, 'cyrillic'],
  [0x590, 0x5ff, 'hebrew'],
  [0x600, 0x6ff, 'arabic'],
  [0xe00, 0xe7f, 'thai'],
  [0x1e00, 0x1eff, 'latin'],
  [0x3005, 0x3007, 'east-asian'],
  [0x3040, 0x30ff, 'east-asian'],
  [0x4e00, 0x9fff, 'east-asian'],
  [0xac00, 0xd7a3, 'east-asian'],
];

export const scriptOf = (codePoint: number): Script =>
  RANGES.find(([first, last]) => codePoint >= first && codePoint <= last)?.[2] ?? 'other';

export const isOfScript = (codePoint: number, script: Script): boolean => scriptOf(codePoint) === script;
