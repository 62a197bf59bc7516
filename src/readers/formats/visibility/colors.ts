import { at } from '../../../shared/at.js';
import { firstGroup } from '../../blocks/matches.js';

/** An opaque colour as `#rrggbb` in small letters. */
export type Color = `#${string}`;

export const WHITE: Color = '#ffffff';

/**
 * Nobody tells two colours apart that a file states and whose red, green and blue all differ by less. On white, 12 are a
 * contrast of 1.1 to 1, of which letters of usual sizes can just be made out. Colours of pictures have noise (`MIN_CONTRAST`
 * of `pdf/hidden.ts`).
 */
const MIN_DIFFERENCE = 12;

/** Tells whether text of one colour cannot be seen on the other. */
export function areAlike(left: Color, right: Color): boolean {
  const [one, other] = [partsOf(left), partsOf(right)];
  return one.every((part, index) => Math.abs(part - at(other, index)) < MIN_DIFFERENCE);
}

/** A colour by its six hexadecimal digits, in either case and with or without `#`; undefined for anything else. */
export function hexColor(text: string | undefined): Color | undefined {
  const digits = firstGroup(/^#?([\da-f]{6})$/i, text);
  return digits === '' ? undefined : `#${digits.toLowerCase()}`;
}

/** @param luminance makes another luminance, from 0 to 1, of the luminance of the colour */
export function withLuminance(color: Color, luminance: (before: number) => number): Color {
  const parts = partsOf(color).map((part) => part / 255);
  const [most, least] = [Math.max(...parts), Math.min(...parts)];
  const before = (most + least) / 2;
  const after = Math.min(1, Math.max(0, luminance(before)));
  // With the hue and the saturation of HSL kept, the distance of each part from the luminance grows with its room.
  const roomOf = (value: number): number => 1 - Math.abs(2 * value - 1);
  const scale = roomOf(before) === 0 ? 0 : roomOf(after) / roomOf(before);
  return colorOfParts(parts.map((part) => (after + (part - before) * scale) * 255));
}

/** @param parts red, green and blue, from 0 to 255 */
export const colorOfParts = (parts: readonly number[]): Color =>
  `#${parts
    .map((part) =>
      Math.round(Math.min(255, Math.max(0, part)))
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;

/** Red, green and blue, from 0 to 255. */
export const partsOf = (color: Color): number[] =>
  [1, 3, 5].map((place) => Number.parseInt(color.slice(place, place + 2), 16));

/** Names of colours in which text is hidden, and of colours that are common behind text. */
const NAMES = colorsByName(
  'white ffffff black 000000 red ff0000 lime 00ff00 green 008000 blue 0000ff navy 000080 yellow ffff00 ' +
    'aqua 00ffff cyan 00ffff fuchsia ff00ff magenta ff00ff gray 808080 grey 808080 silver c0c0c0 maroon ' +
    '800000 olive 808000 purple 800080 teal 008080 snow fffafa ivory fffff0 ghostwhite f8f8ff floralwhite ' +
    'fffaf0 mintcream f5fffa whitesmoke f5f5f5 lightyellow ffffe0 lightgray d3d3d3 lightgrey d3d3d3 ' +
    'darkgray a9a9a9 darkgrey a9a9a9 lightblue add8e6 lightcyan e0ffff lavender e6e6fa beige f5f5dc azure ' +
    'f0ffff aliceblue f0f8ff honeydew f0fff0 seashell fff5ee linen faf0e6 orange ffa500',
);

/** @param list names, each before its six digits */
export function colorsByName(list: string): ReadonlyMap<string, Color> {
  const words = list.split(' ');
  return new Map(
    words.flatMap((word, index): [string, Color][] =>
      index % 2 === 0 ? [[word, `#${at(words, index + 1)}`]] : [],
    ),
  );
}

/** A colour by its name, in small letters; undefined for a name that is not known here. */
export const namedColor = (name: string): Color | undefined => NAMES.get(name);

/** A colour as CSS writes it, in small letters; undefined when it is not understood or not opaque. */
export function cssColor(value: string): Color | undefined {
  const [, short] = /^#([\da-f]{3})f?$/.exec(value) ?? [];
  if (short !== undefined) return hexColor(Array.from(short, (digit) => digit + digit).join(''));
  if (value.startsWith('#')) return hexColor(/^#[\da-f]{6}ff$/.test(value) ? value.slice(0, 7) : value);
  const called = callOf(value);
  if (!called) return namedColor(value);
  const [first = '', second = '', third = ''] = called.parts;
  if (third === '' || alphaOf(value) < 1) return undefined;
  return called.name === 'rgb'
    ? colorOfParts([first, second, third].map((part) => numberOf(part, 255)))
    : fromHue(Number.parseFloat(first), numberOf(second, 1), numberOf(third, 1));
}

/** Returns the opacity of a colour, from 0 to 1; 1 where it is not understood. */
export function alphaOf(value: string): number {
  if (value === 'transparent') return 0;
  const [, one, two] = /^#(?:[\da-f]{3}([\da-f])|[\da-f]{6}([\da-f]{2}))$/.exec(value) ?? [];
  const digits = one === undefined ? two : one + one;
  if (digits !== undefined) return Number.parseInt(digits, 16) / 255;
  const alpha = numberOf(callOf(value)?.parts[3] ?? '1', 1);
  return Number.isNaN(alpha) ? 1 : alpha;
}

function callOf(value: string): { readonly name: string; readonly parts: readonly string[] } | undefined {
  const [, name, inner] = /^(rgb|hsl)a?\(([^()]{5,80})\)$/.exec(value) ?? [];
  if (name === undefined || inner === undefined) return undefined;
  const parts = inner.split(/[\s,/]+/).filter((part) => part !== '');
  return parts.every((part) => /^[\d.]+(?:e-?\d+)?(?:%|deg)?$/.test(part)) ? { name, parts } : undefined;
}

const numberOf = (part: string, whole: number): number =>
  part.endsWith('%') ? (Number.parseFloat(part) / 100) * whole : Number.parseFloat(part);

function fromHue(hue: number, saturation: number, luminance: number): Color {
  const reach = saturation * Math.min(luminance, 1 - luminance);
  const partOf = (offset: number): number => {
    const turn = (offset + hue / 30) % 12;
    return (luminance - reach * Math.max(-1, Math.min(turn - 3, 9 - turn, 1))) * 255;
  };
  return colorOfParts([0, 8, 4].map(partOf));
}
