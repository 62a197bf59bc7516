/** An opaque colour as `#rrggbb` in small letters. */
export type Color = `#${string}`;

export const WHITE: Color = '#ffffff';

/** Nobody tells two colours apart whose red, green and blue all differ by less. */
const LEAST_DIFFERENCE = 12;

/** Whether text of one colour cannot be seen on the other. */
export function areAlike(left: Color, right: Color): boolean {
  const [one, other] = [partsOf(left), partsOf(right)];
  return one.every((part, index) => Math.abs(part - (other[index] ?? 0)) < LEAST_DIFFERENCE);
}

/** A colour by its six hexadecimal digits, in either case and with or without `#`; undefined for anything else. */
export function hexColor(text: string | undefined): Color | undefined {
  const digits = /^#?([\da-f]{6})$/i.exec(text ?? '')?.[1];
  return digits === undefined ? undefined : `#${digits.toLowerCase()}`;
}

/** @param luminance makes another luminance, from 0 to 1, of that which the colour has */
export function withLuminance(color: Color, luminance: (before: number) => number): Color {
  const parts = partsOf(color).map((part) => part / 255);
  const [most, least] = [Math.max(...parts), Math.min(...parts)];
  const before = (most + least) / 2;
  const after = Math.min(1, Math.max(0, luminance(before)));
  // With the hue and the saturation of HSL kept, the distance of each part from the luminance grows with its room.
  const roomOf = (value: number): number => 1 - Math.abs(2 * value - 1);
  const scale = roomOf(before) === 0 ? 0 : roomOf(after) / roomOf(before);
  return fromParts(parts.map((part) => (after + (part - before) * scale) * 255));
}

const fromParts = (parts: readonly number[]): Color =>
  `#${parts
    .map((part) =>
      Math.round(Math.min(255, Math.max(0, part)))
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;

const partsOf = (color: Color): number[] =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

/** Names of colours in which text is hidden, and those that are common behind text. */
const NAMES: ReadonlyMap<string, Color> = new Map<string, Color>([
  ['white', WHITE],
  ['black', '#000000'],
  ['red', '#ff0000'],
  ['lime', '#00ff00'],
  ['green', '#008000'],
  ['blue', '#0000ff'],
  ['navy', '#000080'],
  ['yellow', '#ffff00'],
  ['aqua', '#00ffff'],
  ['cyan', '#00ffff'],
  ['fuchsia', '#ff00ff'],
  ['magenta', '#ff00ff'],
  ['gray', '#808080'],
  ['grey', '#808080'],
  ['silver', '#c0c0c0'],
  ['maroon', '#800000'],
  ['olive', '#808000'],
  ['purple', '#800080'],
  ['teal', '#008080'],
  ['snow', '#fffafa'],
  ['ivory', '#fffff0'],
  ['ghostwhite', '#f8f8ff'],
  ['floralwhite', '#fffaf0'],
  ['mintcream', '#f5fffa'],
  ['whitesmoke', '#f5f5f5'],
]);

/** A colour by its name, in small letters; undefined for a name that is not known here. */
export const namedColor = (name: string): Color | undefined => NAMES.get(name);

/** A colour as CSS writes it, in small letters; undefined when it is not understood. */
export function cssColor(value: string): Color | undefined {
  const [, short] = /^#([\da-f]{3})$/.exec(value) ?? [];
  if (short !== undefined) return hexColor(Array.from(short, (digit) => digit + digit).join(''));
  const [, red, green, blue] = /^rgb\((\d{1,3}),\s?(\d{1,3}),\s?(\d{1,3})\)$/.exec(value) ?? [];
  if (red === undefined) return (value.startsWith('#') ? hexColor(value) : undefined) ?? namedColor(value);
  return fromParts([red, green, blue].map(Number));
}
