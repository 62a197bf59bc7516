/**
 * The properties that decide whether text is seen, and their values in small letters. Those that are important have a
 * `!` behind their names.
 */
export type Declarations = ReadonlyMap<string, string>;

/** The value of a property that cannot be known. */
export const UNKNOWN = 'unknown';

const PROPERTIES = new Set(
  (
    'display visibility opacity font font-size color background background-color background-image text-indent ' +
    'position left right top bottom margin margin-top margin-left transform translate grid-area grid-row ' +
    'animation animation-name text-shadow background-clip -webkit-background-clip -webkit-text-fill-color ' +
    '-webkit-text-stroke -webkit-text-stroke-width mix-blend-mode all width height min-width min-height max-width ' +
    'max-height overflow overflow-x overflow-y padding padding-top padding-bottom padding-left padding-right ' +
    'clip clip-path scale transition transition-property transition-duration'
  ).split(' '),
);
const LONGEST_VALUE = 400;
const ESCAPE = /\\(?:([\da-f]{1,6})\s?|([^\n]))/gi;
/** Escaped signs of ASCII are moved here, so that they do not mean anything in selectors. */
const ESCAPED = 0xe000;

/** Reads what a `style` attribute or the body of a rule declares. */
export function parseDeclarations(text: string): Declarations {
  const declarations = new Map<string, string>();
  for (const declaration of withoutComments(text).split(';')) {
    const colon = declaration.indexOf(':');
    const property = unescaped(declaration.slice(0, Math.max(0, colon)))
      .trim()
      .toLowerCase();
    if (!PROPERTIES.has(property)) continue;
    const [value = '', ...flags] = unescaped(declaration.slice(colon + 1, colon + 1 + LONGEST_VALUE))
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

/** Puts an empty space in the place of comments, and empties strings. */
export function withoutComments(css: string): string {
  if (!/["'/]/.test(css)) return css;
  return css.replace(
    /\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?|"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?/g,
    (found) => (found.startsWith('/') ? ' ' : '""'),
  );
}

/** Resolves escapes. @param isName whether signs keep apart from those that separate selectors */
export function unescaped(text: string, isName = false): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (_all, code: string | undefined, sign: string | undefined) => {
    const number = code === undefined ? 0 : Number.parseInt(code, 16);
    const resolved = sign ?? String.fromCodePoint(number > 0x10_ffff ? 0xfffd : number);
    return isName ? protectedName(resolved) : resolved;
  });
}

/** A name whose signs, such as the colon of `md:block`, cannot be taken for those of selectors. */
export const protectedName = (name: string): string =>
  name.replace(/[!-,./:-@[-^`{-~]/g, (sign) => String.fromCodePoint(ESCAPED + (sign.codePointAt(0) ?? 0)));

function longhands(property: string, value: string): [string, string][] {
  if (property === 'font') return [['font-size', sizeOfFont(value)]];
  if (property === 'all') return value === '' ? [] : [['display', UNKNOWN]];
  if (property !== 'background') return [[property, value]];
  const hasImage = /url\(|gradient\(|image|var\(|element\(/.test(value);
  return [
    ['background-image', hasImage ? UNKNOWN : 'none'],
    ['background-color', value],
  ];
}

function sizeOfFont(value: string): string {
  const sizes = value.split(/\s+/).map((token) => token.split('/')[0] ?? '');
  if (value === 'inherit') return value;
  return sizes.find((size) => /^(?:[\d.]+(?:e[+-]?\d+)?[a-z%]+|[0.]+)$/.test(size)) ?? UNKNOWN;
}
