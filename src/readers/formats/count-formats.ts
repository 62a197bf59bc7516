const ROMAN: readonly (readonly [number, string])[] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
];

/** Writes a number of a list as its format says (ECMA-376 part 1, 17.18.59); in digits where that is not known. */
export function countedAs(number: number, format: string): string {
  switch (format) {
    case 'decimalZero':
      return String(number).padStart(2, '0');
    case 'lowerRoman':
      return roman(number);
    case 'upperRoman':
      return roman(number).toUpperCase();
    case 'lowerLetter':
      return letters(number);
    case 'upperLetter':
      return letters(number).toUpperCase();
    default:
      return String(number);
  }
}

/** Writes a number as HTML and OpenDocument say: `1`, `a`, `A`, `i` or `I`. Numbers without letters, such as 0, are shown in digits. */
export function shownNumber(number: number, type: string): string {
  if (number < 1) return String(number);
  switch (type) {
    case 'a':
      return lettersInTurn(number);
    case 'A':
      return lettersInTurn(number).toUpperCase();
    case 'i':
      return roman(number);
    case 'I':
      return roman(number).toUpperCase();
    default:
      return String(number);
  }
}

/** Writes a number in a `list-style-type` of CSS (CSS Counter Styles 3, 6); undefined for an unknown style. */
export function styledNumber(number: number, style: string): string | undefined {
  switch (style) {
    case 'decimal':
      return String(number);
    case 'decimal-leading-zero':
      return number < 0 ? String(number) : String(number).padStart(2, '0');
    case 'lower-roman':
      return shownNumber(number, 'i');
    case 'upper-roman':
      return shownNumber(number, 'I');
    case 'lower-alpha':
    case 'lower-latin':
      return shownNumber(number, 'a');
    case 'upper-alpha':
    case 'upper-latin':
      return shownNumber(number, 'A');
    case 'lower-greek':
      return number < 1 ? String(number) : lettersInTurn(number, 'αβγδεζηθικλμνξοπρστυφχψω');
    default:
      return undefined;
  }
}

function roman(number: number): string {
  if (number < 1 || number > 3_999) return String(number);
  let rest = number;
  let text = '';
  for (const [value, sign] of ROMAN)
    while (rest >= value) {
      text += sign;
      rest -= value;
    }
  return text;
}

/** After z come aa, bb and so on. */
function letters(number: number): string {
  if (number < 1 || number > 260) return String(number);
  return String.fromCharCode(97 + ((number - 1) % 26)).repeat(Math.ceil(number / 26));
}

const LATIN = 'abcdefghijklmnopqrstuvwxyz';

/** Behind `z` comes `aa`, then `ab`, where Word writes `bb`. */
function lettersInTurn(number: number, alphabet = LATIN): string {
  const { length } = alphabet;
  let text = '';
  for (let rest = number; rest > 0; rest = Math.floor((rest - 1) / length))
    text = alphabet.charAt((rest - 1) % length) + text;
  return text;
}
