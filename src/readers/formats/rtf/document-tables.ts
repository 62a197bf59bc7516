import { textOrEmpty } from '../../../shared/at.js';
import { encodingOfCodePage } from '../../encoding/labels.js';
import { signsOf } from '../signs/sign-reader.js';
import { colorOfParts, type Color } from '../visibility/colors.js';
import { codePageOfCharset } from './charsets.js';

/** The tables at the beginning of a file: its fonts, colours and styles. */
export interface RtfTables extends Fonts {
  color(word: string, parameter: number): void;
  /** Ends the colour that is being told. */
  endColor(): void;
  style(word: string, parameter: number): void;
  /** Undefined for the ordinary colour. */
  readonly colorOf: (color: number) => Color | undefined;
  /** The level of the headings that a style is for. */
  headingOf(style: number): number | undefined;
}

/** Most colours and styles that are kept. */
const MAX = 10_000;

const PARTS = ['red', 'green', 'blue'];

export function createRtfTables(): RtfTables {
  const styles = new Map<number, number>();
  const colors = new Map<number, Color>();
  let style = 0;
  let color = 0;
  let parts = new Map<string, number>();
  return {
    ...createFonts(),
    color: (word, parameter) => {
      if (PARTS.includes(word)) parts.set(word, parameter);
    },
    endColor: () => {
      if (parts.size > 0 && colors.size < MAX)
        colors.set(color, colorOfParts(PARTS.map((part) => parts.get(part) ?? 0)));
      parts = new Map();
      color += 1;
    },
    style: (word, parameter) => {
      if (word === 's') style = parameter;
      else if (word === 'outlinelevel' && parameter < 9 && styles.size < MAX)
        styles.set(style, parameter + 1);
    },
    colorOf: (number) => colors.get(number),
    headingOf: (number) => styles.get(number),
  };
}

/** The fonts of a file, which decide how its bytes are read. */
interface Fonts {
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
const MAX_FONTS = 10_000;
const MAX_NAME_LENGTH = 100;

function pageOf(word: string, parameter: number): string | undefined {
  if (word === 'fcharset') return codePageOfCharset(parameter);
  return word === 'cpg' ? encodingOfCodePage(parameter) : undefined;
}

function createFonts(): Fonts {
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
      if (page !== undefined && pages.size < MAX_FONTS) pages.set(font, page);
    },
    nameFont: (part) => {
      const before = textOrEmpty(names, font);
      if (names.size < MAX_FONTS && before.length < MAX_NAME_LENGTH)
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
