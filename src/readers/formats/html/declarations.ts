import { at } from '../../../shared/at.js';
import { signsOf } from '../signs/sign-reader.js';

/**
 * The properties that decide whether text is seen, and their values in small letters. Those that are important have a
 * `!` behind their names.
 */
export type Declarations = ReadonlyMap<string, string>;

/** The value of a property; empty where it is not declared. */
export const valueOrEmpty = (declared: Declarations, property: string): string =>
  declared.get(property) ?? '';

/** The value of a property that cannot be known. */
export const UNKNOWN = 'unknown';

const PROPERTIES = new Set(
  (
    'display visibility opacity font font-size font-family color background background-color background-image text-indent ' +
    'position left right top bottom margin margin-top margin-left transform translate grid-area grid-row ' +
    'animation animation-name text-shadow background-clip -webkit-background-clip -webkit-text-fill-color ' +
    '-webkit-text-stroke -webkit-text-stroke-width mix-blend-mode all width height min-width min-height max-width ' +
    'max-height overflow overflow-x overflow-y padding padding-top padding-bottom padding-left padding-right ' +
    'clip clip-path scale transition transition-property transition-duration flex flex-grow flex-basis block-size ' +
    'inline-size min-block-size min-inline-size aspect-ratio padding-block padding-block-start padding-block-end ' +
    'padding-inline padding-inline-start padding-inline-end vertical-align list-style list-style-type'
  ).split(' '),
);
const MAX_VALUE_LENGTH = 400;
const ESCAPE = /\\(?:([\da-f]{1,6})\s?|([^\n]))/gi;
/** Escaped signs of ASCII are moved here, so that they do not mean anything in selectors. */
const ESCAPED = 0xe000;

/** Reads the declarations of a `style` attribute or of the body of a rule. */
export function parseDeclarations(text: string): Declarations {
  const declarations = new Map<string, string>();
  for (const declaration of withoutComments(text).split(';')) {
    const colon = declaration.indexOf(':');
    const property = unescaped(declaration.slice(0, Math.max(0, colon)))
      .trim()
      .toLowerCase();
    if (!PROPERTIES.has(property)) continue;
    const [value = '', ...flags] = unescaped(declaration.slice(colon + 1, colon + 1 + MAX_VALUE_LENGTH))
      .toLowerCase()
      .split('!');
    const mark = flags.some((flag) => flag.trim() === 'important') ? '!' : '';
    for (const [name, single] of longhands(property, value.trim())) {
      declarations.delete(name + mark);
      declarations.set(name + mark, single);
    }
  }
  return declarations;
}

/** Puts an empty space in the place of comments, and empties strings but the names of symbol fonts. */
export function withoutComments(css: string): string {
  if (!/["'/]/.test(css)) return css;
  const opening = /["']|\/\*/g;
  const parts: string[] = [];
  let from = 0;
  for (let match = opening.exec(css); match; match = opening.exec(css)) {
    const isComment = match[0] === '/*';
    const end = isComment ? commentEnd(css, match.index) : stringEnd(css, match.index);
    const name = css.slice(match.index + 1, end - 1);
    const string = signsOf(name) ? name : '""';
    parts.push(css.slice(from, match.index), isComment ? ' ' : string);
    from = end;
    opening.lastIndex = from;
  }
  return parts.join('') + css.slice(from);
}

// An expression for all of a comment or string would exceed its stack on pictures that pages hold in their styles.
function commentEnd(css: string, start: number): number {
  const end = css.indexOf('*/', start + 2);
  return end === -1 ? css.length : end + 2;
}

/** A string ends at its quote, or before the end of its line. */
function stringEnd(css: string, start: number): number {
  const sign = /["'\\\n]/g;
  sign.lastIndex = start + 1;
  for (let match = sign.exec(css); match; match = sign.exec(css)) {
    if (match[0] === css[start]) return match.index + 1;
    if (match[0] === '\n') return match.index;
    if (match[0] === '\\') sign.lastIndex = match.index + 2;
  }
  return css.length;
}

/** Resolves escapes. @param isName whether signs of the name are kept apart from the signs that separate selectors */
export function unescaped(text: string, isName = false): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (_all, code: string | undefined, sign: string | undefined) => {
    const number = code === undefined ? 0 : Number.parseInt(code, 16);
    const resolved = sign ?? String.fromCodePoint(number > 0x10_ffff ? 0xfffd : number);
    return isName ? protectedName(resolved) : resolved;
  });
}

/** Replaces the signs of a name, such as the colon of `md:block`, so that they cannot be taken for signs of selectors. */
export const protectedName = (name: string): string =>
  name.replace(/[!-,./:-@[-^`{-~]/g, (sign) => String.fromCodePoint(ESCAPED + sign.charCodeAt(0)));

function longhands(property: string, value: string): [string, string][] {
  if (property === 'font')
    return [
      ['font-size', sizeOfFont(value)],
      ['font-family', familyOfFont(value)],
    ];
  if (property === 'list-style') return [['list-style-type', typeOfList(value)]];
  if (property === 'all') return value === '' ? [] : [['display', UNKNOWN]];
  if (property !== 'background') return [[property, value]];
  const hasImage = /url\(|gradient\(|image|var\(|element\(/.test(value);
  return [
    ['background-image', hasImage ? UNKNOWN : 'none'],
    ['background-color', value],
  ];
}

/** The type among the position and picture of the short form. */
const typeOfList = (value: string): string =>
  value.split(/\s+/).find((part) => !/^(?:inside|outside|url\(.*)$/.test(part)) ?? UNKNOWN;

/** The families behind the size in the short form of all properties of a font. */
function familyOfFont(value: string): string {
  const at = value.search(/\d[a-z%]*(?:\/\S{1,20})?\s/);
  return at === -1 ? value : value.slice(at).replace(/^\S*\s+/, '');
}

function sizeOfFont(value: string): string {
  const sizes = value.split(/\s+/).map((token) => at(token.split('/'), 0));
  if (value === 'inherit') return value;
  return sizes.find((size) => /^(?:[\d.]+(?:e[+-]?\d+)?[a-z%]+|[0.]+)$/.test(size)) ?? UNKNOWN;
}
