import { colorOfParts, type Color } from '../visibility/colors.js';
import { createRtfFonts, type RtfFonts } from './fonts.js';

/** The tables at the beginning of a file: its fonts, colours and styles. */
export interface RtfTables extends RtfFonts {
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
    ...createRtfFonts(),
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
