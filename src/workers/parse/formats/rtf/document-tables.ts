import { encodingOfCodePage } from '../encoding/labels.js';
import { codePageOfCharset } from './charsets.js';

/** The tables at the beginning of a file: its fonts, colours and styles. */
export interface RtfTables {
  font(word: string, parameter: number): void;
  color(word: string, parameter: number): void;
  /** Ends the colour that is being told. */
  endColor(): void;
  style(word: string, parameter: number): void;
  setCodePage(number: number): void;
  /** The code page of text in a font. */
  codePageOf(font: number): string;
  isWhite(color: number): boolean;
  /** The level of the headings that a style is for. */
  headingOf(style: number): number | undefined;
  setDefaultFont(font: number): void;
}

/** Most fonts, colours and styles that are kept. */
const MOST = 10_000;

const COLORS = new Set(['red', 'green', 'blue']);

function pageOf(word: string, parameter: number): string | undefined {
  if (word === 'fcharset') return codePageOfCharset(parameter);
  return word === 'cpg' ? encodingOfCodePage(parameter) : undefined;
}

export function createRtfTables(): RtfTables {
  const fonts = new Map<number, string>();
  const styles = new Map<number, number>();
  const white = new Set<number>();
  let ordinary = 'cp1252';
  let defaultFont = 0;
  let font = 0;
  let style = 0;
  let color = 0;
  let parts = 0;
  return {
    font: (word, parameter) => {
      if (word === 'f') font = parameter;
      const page = pageOf(word, parameter);
      if (page !== undefined && fonts.size < MOST) fonts.set(font, page);
    },
    color: (word, parameter) => {
      if (COLORS.has(word) && parameter === 255) parts += 1;
    },
    endColor: () => {
      if (parts === 3 && white.size < MOST) white.add(color);
      parts = 0;
      color += 1;
    },
    style: (word, parameter) => {
      if (word === 's') style = parameter;
      else if (word === 'outlinelevel' && parameter < 9 && styles.size < MOST)
        styles.set(style, parameter + 1);
    },
    setCodePage: (number) => {
      ordinary = encodingOfCodePage(number) ?? ordinary;
    },
    codePageOf: (number) => fonts.get(number < 0 ? defaultFont : number) ?? ordinary,
    isWhite: (number) => white.has(number),
    headingOf: (number) => styles.get(number),
    setDefaultFont: (number) => {
      defaultFont = number;
    },
  };
}
