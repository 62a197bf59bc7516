import { signsOf } from '../signs/sign-reader.js';
import { encodingOfCodePage } from '../../encoding/labels.js';
import { codePageOfCharset } from './charsets.js';

/** The fonts of a file, which decide how its bytes are read. */
export interface RtfFonts {
  font(word: string, parameter: number): void;
  /** Adds to the name of the font that is being told, which a semicolon ends. */
  nameFont(name: string): void;
  fontName(font: number): string | undefined;
  setCodePage(number: number): void;
  /** The code page of text in a font. */
  codePageOf(font: number): string;
  setDefaultFont(font: number): void;
}

/** Most fonts that are kept, and characters of a name. */
const MAX = 10_000;
const MAX_NAME_LENGTH = 100;

function pageOf(word: string, parameter: number): string | undefined {
  if (word === 'fcharset') return codePageOfCharset(parameter);
  return word === 'cpg' ? encodingOfCodePage(parameter) : undefined;
}

export function createRtfFonts(): RtfFonts {
  const pages = new Map<number, string>();
  const names = new Map<number, string>();
  let ordinary = 'cp1252';
  let defaultFont = 0;
  let font = 0;
  const fontName = (number: number): string | undefined =>
    names
      .get(number < 0 ? defaultFont : number)
      ?.split(';')[0]
      ?.trim();
  return {
    font: (word, parameter) => {
      if (word === 'f') font = parameter;
      const page = pageOf(word, parameter);
      if (page !== undefined && pages.size < MAX) pages.set(font, page);
    },
    nameFont: (part) => {
      const before = names.get(font) ?? '';
      if (names.size < MAX && before.length < MAX_NAME_LENGTH)
        names.set(font, `${before}${part}`.slice(0, MAX_NAME_LENGTH));
    },
    fontName,
    setCodePage: (number) => {
      ordinary = encodingOfCodePage(number) ?? ordinary;
    },
    // The characters of a symbol font are its codes.
    codePageOf: (number) =>
      signsOf(fontName(number)) ? 'latin1' : (pages.get(number < 0 ? defaultFont : number) ?? ordinary),
    setDefaultFont: (number) => {
      defaultFont = number;
    },
  };
}
