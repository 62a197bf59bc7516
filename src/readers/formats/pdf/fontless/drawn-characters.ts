import '../pdfjs/pdf-globals.js';
import { OPS } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { z } from 'zod';
import type { Rectangle } from '../../../blocks/location.js';
import { around } from '../../pages/layout/piece.js';
import type { SignPage } from '../marks/page-signs.js';
import type { PlacedText } from '../marks/placed-texts.js';
import { timesMatrix } from '../shifted/shifted-on-page.js';
import { inUsualForm } from '../vertical/find-columns.js';
import { walkTexts, type Operators, type TextState } from './text-walk.js';
import { addTo } from '../../../../shared/at.js';

/** A character of a page in a font that is not in the file. */
export interface DrawnCharacter {
  readonly text: string;
  /** Its place on the page as it is shown, in points from the top left. */
  readonly box: Rectangle;
  readonly size: number;
  /** The degrees by which its line is turned clockwise. */
  readonly rotation: number;
  /** True if its line runs from top to bottom. */
  readonly isVertical: boolean;
  readonly font: string;
  /** The colour of eight hexadecimal digits: alpha, red, green, blue; undefined for patterns. */
  readonly fillColor: string | undefined;
  /** True if it is on a layer that is off. */
  readonly isOff: boolean;
}

export interface DrawnCharacters {
  readonly characters: readonly DrawnCharacter[];
  /** The operators that were read for them, and the pixels of pictures among them as so many more. */
  readonly operators: number;
}

interface DrawnPage extends SignPage {
  getOperatorList(): Promise<Operators>;
}

/** Rendering modes that fill letters; the others draw their outline alone, or nothing. */
const FILLS: ReadonlySet<number> = new Set([0, 2, 4, 6]);
const OUTLINES: ReadonlySet<number> = new Set([1, 5]);
/** The height of a character's top above its baseline, and of its bottom, in sizes of its font. */
const [TOP, BOTTOM] = [0.8, -0.2];
/** The horizontal and the vertical move to the next character, and the place of the origin of vertical text (ISO 32000-1, 9.7.4.3). */
const VERTICAL_METRICS = [-1_000, 500, 880] as const;

const fontSchema = z.object({
  name: z.string(),
  missingFile: z.boolean(),
  vertical: z.boolean(),
});
type Font = z.infer<typeof fontSchema>;

const glyphSchema = z.object({
  unicode: z.string(),
  width: z.number(),
  vmetric: z.array(z.number()).nullish(),
  isSpace: z.boolean(),
});
type Glyph = z.infer<typeof glyphSchema>;

interface Known {
  /** The texts of the page as the second reader reads them. */
  readonly texts: readonly PlacedText[];
  /** The texts that PDFium gives. */
  readonly known: readonly string[];
  readonly isVisible: (layer: unknown) => boolean;
}

/**
 * The characters of a page in fonts that are not in the file, as far as they are drawn one by one or from top to bottom:
 * PDFium gives no text of no width, as these have where no font of the machine has their shapes. None where PDFium gives
 * all characters of the page, since operators take long to read.
 */
export async function characters(
  page: DrawnPage,
  { texts, known, isVisible }: Known,
): Promise<DrawnCharacters> {
  if (areAllKnown(texts, known)) return { characters: [], operators: 0 };
  const operators = await page.getOperatorList();
  const view = page.getViewport({ scale: 1 }).transform;
  const fontOf = createFonts(page);
  const found: DrawnCharacter[] = [];
  walkTexts(operators, isVisible, (shown, state) => {
    const font = fontOf(state.font);
    const glyphs = shown.map((each) => (typeof each === 'number' ? each : glyphSchema.safeParse(each).data));
    const isAlone = glyphs.filter((glyph) => typeof glyph === 'object').length === 1;
    const isWanted =
      font?.missingFile === true &&
      (isAlone || font.vertical) &&
      (FILLS.has(state.mode) || OUTLINES.has(state.mode));
    let place = { x: 0, y: 0 };
    for (const glyph of glyphs) {
      if (isWanted && typeof glyph === 'object' && glyph.unicode.trim() !== '')
        found.push(characterOf(glyph, { font, state, place, view }));
      const { x, y } = moveOf(glyph, { isVertical: font?.vertical === true, state });
      place = { x: place.x + x, y: place.y + y };
    }
    return place;
  });
  return { characters: found, operators: workOf(operators) };
}

/** The pixels of a picture that take as long as an operator. */
const PIXELS_OF_OPERATOR = 20;

/** The operators of a page, and as many for its pictures as take the same time. */
function workOf({ fnArray, argsArray }: Operators): number {
  let pixels = 0;
  for (const [at, operator] of fnArray.entries()) {
    const { data } = operator === OPS.paintImageXObject ? pictureSchema.safeParse(argsArray[at]) : {};
    if (data) pixels += data[1] * data[2];
  }
  return fnArray.length + pixels / PIXELS_OF_OPERATOR;
}

/** The name of a picture, its width and its height. */
const pictureSchema = z.tuple([z.unknown(), z.number(), z.number()]).rest(z.unknown());

const BEYOND_ASCII = /[^\0-\x7f\s]/gu;

/** Tells whether the characters of texts beyond ASCII are known, as many of each. */
function areAllKnown(texts: readonly PlacedText[], known: readonly string[]): boolean {
  const counts = new Map<string, number>();
  for (const text of known)
    for (const [each] of text.normalize('NFKC').matchAll(BEYOND_ASCII)) addTo(counts, each);
  for (const { text } of texts)
    for (const [each] of text.normalize('NFKC').matchAll(BEYOND_ASCII))
      if (addTo(counts, each, -1) < 0) return false;
  return true;
}

function createFonts({ commonObjs }: SignPage): (name: string) => Font | undefined {
  const fonts = new Map<string, Font | undefined>();
  return (name) => {
    if (!fonts.has(name))
      fonts.set(name, commonObjs.has(name) ? fontSchema.safeParse(commonObjs.get(name)).data : undefined);
    return fonts.get(name);
  };
}

/** The move from a character, or by a number between two of them, to the next one (ISO 32000-1, 9.4.4). */
function moveOf(
  glyph: Glyph | number | undefined,
  { isVertical, state }: { readonly isVertical: boolean; readonly state: TextState },
): { readonly x: number; readonly y: number } {
  const { size, scale, characterSpacing, wordSpacing } = state;
  if (glyph === undefined) return { x: 0, y: 0 };
  if (typeof glyph === 'number') {
    const move = (-glyph / 1_000) * size;
    return isVertical ? { x: 0, y: move } : { x: move * scale, y: 0 };
  }
  const spacing = characterSpacing + (glyph.isSpace ? wordSpacing : 0);
  const down = glyph.vmetric?.[0] ?? VERTICAL_METRICS[0];
  if (isVertical) return { x: 0, y: (down / 1_000) * size + spacing };
  return { x: ((glyph.width / 1_000) * size + spacing) * scale, y: 0 };
}

interface Where {
  readonly font: Font;
  readonly state: TextState;
  readonly place: { readonly x: number; readonly y: number };
  /** From units of the page to points of the page as it is shown. */
  readonly view: readonly number[];
}

function characterOf(
  { unicode, width, vmetric }: Glyph,
  { font, state, place, view }: Where,
): DrawnCharacter {
  const { size, scale, rise, color, opacity, mode, isOff } = state;
  const own = timesMatrix([size * scale, 0, 0, size, place.x, place.y + rise], state.matrix);
  const [a, b, c, d, e, f] = timesMatrix(own, view);
  const wide = width / 1_000;
  const left = font.vertical ? -(vmetric?.[1] ?? width / 2) / 1_000 : 0;
  const [top, bottom] = font.vertical ? [0, -1] : [TOP, BOTTOM];
  const corners = [left, left + wide].flatMap((x) =>
    [top, bottom].map((y) => ({ x: a * x + c * y + e, y: b * x + d * y + f, width: 0, height: 0 })),
  );
  const alpha = Math.round(Math.min(1, Math.max(0, opacity)) * 255);
  const isFilled = FILLS.has(mode) && color !== undefined;
  return {
    text: inUsualForm(unicode),
    box: around(corners),
    size: Math.hypot(c, d),
    rotation: ((Math.atan2(b, a) * 180) / Math.PI + 360) % 360,
    isVertical: font.vertical,
    font: font.name,
    fillColor: isFilled ? `${alpha.toString(16).padStart(2, '0')}${color}` : undefined,
    isOff,
  };
}
