import { createRtfFonts, type RtfFonts } from './fonts.js';

/** The tables at the beginning of a file: its fonts, colours and styles. */
export interface RtfTables extends RtfFonts {
  color(word: string, parameter: number): void;
  /** Ends the colour that is being told. */
  endColor(): void;
  style(word: string, parameter: number): void;
  isWhite(color: number): boolean;
  /** The level of the headings that a style is for. */
  headingOf(style: number): number | undefined;
}

/** Most colours and styles that are kept. */
const MAX = 10_000;

const COLORS = new Set(['red', 'green', 'blue']);

export function createRtfTables(): RtfTables {
  const styles = new Map<number, number>();
  const white = new Set<number>();
  let style = 0;
  let color = 0;
  let parts = 0;
  return {
    ...createRtfFonts(),
    color: (word, parameter) => {
      if (COLORS.has(word) && parameter === 255) parts += 1;
    },
    endColor: () => {
      if (parts === 3 && white.size < MAX) white.add(color);
      parts = 0;
      color += 1;
    },
    style: (word, parameter) => {
      if (word === 's') style = parameter;
      else if (word === 'outlinelevel' && parameter < 9 && styles.size < MAX)
        styles.set(style, parameter + 1);
    },
    isWhite: (number) => white.has(number),
    headingOf: (number) => styles.get(number),
  };
}
