/** The properties that decide whether text is seen, and their values in small letters. */
export type Declarations = ReadonlyMap<string, string>;

const PROPERTIES = new Set([
  'display',
  'visibility',
  'opacity',
  'font-size',
  'color',
  'background',
  'background-color',
  'text-indent',
  'position',
  'left',
  'top',
]);
const MOST_CHARACTERS = 262_144;
const MOST_RULES = 2_000;
/** Most selectors of a style sheet. Rules behind them are not followed. */
const MOST_SELECTORS = 8_000;
const MOST_RULES_OF_A_KEY = 8;
const MOST_CLASSES = 16;
const NOTHING: Declarations = new Map();

/** Reads what a `style` attribute or the body of a rule declares. */
export function parseDeclarations(text: string): Declarations {
  const declarations = new Map<string, string>();
  for (const declaration of text.split(';')) {
    const colon = declaration.indexOf(':');
    const property = declaration.slice(0, Math.max(0, colon)).trim().toLowerCase();
    if (!PROPERTIES.has(property)) continue;
    const value = declaration
      .slice(colon + 1)
      .toLowerCase()
      .replace('!important', '')
      .trim();
    declarations.set(property === 'background' ? 'background-color' : property, value);
  }
  return declarations;
}

interface Rule {
  readonly element: string;
  readonly id: string;
  readonly classes: readonly string[];
  readonly declarations: Map<string, string>;
}

/** A style sheet in its rules. */
export interface StyleSheet {
  readonly rules: readonly { readonly selectors: readonly string[]; readonly declarations: Declarations }[];
  /** Whether rules that are not followed may give anything a background. */
  readonly hasOtherBackgrounds: boolean;
}

export interface StyleRules {
  add(sheet: StyleSheet): void;
  /** What the rules declare for an element; rules with more specific selectors win. */
  match(element: string, id: string, className: string): Declarations;
  /** Whether some rule that is not understood sets a background. */
  readonly hasOtherBackgrounds: () => boolean;
}

/** Reads a style sheet. Of a long one the beginning is read. */
export function parseStyleSheet(css: string): StyleSheet {
  const rules: { selectors: readonly string[]; declarations: Declarations }[] = [];
  let selectorCount = 0;
  let hasOtherBackgrounds = css.length > MOST_CHARACTERS || css.includes('@import');
  const read = (text: string, isNested: boolean): void => {
    for (const { selectors, body } of splitRules(text)) {
      if (rules.length >= MOST_RULES || selectorCount >= MOST_SELECTORS) hasOtherBackgrounds = true;
      else if (ON_SCREENS.test(selectors) && !isNested) read(body, true);
      else if (selectors.startsWith('@')) hasOtherBackgrounds ||= body.includes('background');
      else {
        const declarations = parseDeclarations(body);
        if (declarations.size === 0) continue;
        const split = selectors.split(',', MOST_SELECTORS - selectorCount + 1).map((each) => each.trim());
        if (split.length > MOST_SELECTORS - selectorCount) hasOtherBackgrounds = true;
        selectorCount += split.length;
        rules.push({ selectors: split, declarations });
      }
    }
  };
  read(withoutComments(css.slice(0, MOST_CHARACTERS)), false);
  return { rules, hasOtherBackgrounds };
}

/** At-rules whose content holds on every screen. */
const ON_SCREENS = /^@media\s+(?:only\s+)?(?:all|screen)$/i;

/**
 * Collects rules of style sheets whose selectors are an element, classes and an id alone. Others, and those within
 * at-rules such as those for print, are not followed.
 */
export function createStyleRules(): StyleRules {
  const rules = new Map<string, Rule>();
  const byKey = new Map<string, Rule[]>();
  const known = new Map<string, Declarations>();
  let hasOtherBackgrounds = false;
  const addRule = (selector: string, declarations: Declarations): void => {
    const rule = rules.get(selector) ?? parseSelector(selector);
    if (!rule) {
      hasOtherBackgrounds ||= declarations.has('background-color');
      return;
    }
    for (const [property, value] of declarations) rule.declarations.set(property, value);
    if (rules.has(selector) || rules.size >= MOST_RULES) return;
    rules.set(selector, rule);
    const key = keyOf(rule);
    const same = byKey.get(key) ?? [];
    if (same.length < MOST_RULES_OF_A_KEY || selector === key) byKey.set(key, [...same, rule]);
  };
  return {
    add: (sheet) => {
      known.clear();
      hasOtherBackgrounds ||= sheet.hasOtherBackgrounds;
      for (const { selectors, declarations } of sheet.rules)
        for (const selector of selectors) addRule(selector, declarations);
    },
    match: (element, id, className) => {
      if (rules.size === 0) return NOTHING;
      const key = `${element} ${id} ${className}`;
      const found = known.get(key) ?? matchRules(byKey, { element, id, className });
      if (known.size < MOST_RULES) known.set(key, found);
      return found;
    },
    hasOtherBackgrounds: () => hasOtherBackgrounds,
  };
}

function matchRules(
  byKey: ReadonlyMap<string, readonly Rule[]>,
  { element, id, className }: { element: string; id: string; className: string },
): Declarations {
  const classes = className.split(/\s+/).slice(0, MOST_CLASSES);
  const keys = [element, '*', ...classes.map((name) => `.${name}`), `#${id}`];
  const matching = keys
    .flatMap((key) => byKey.get(key) ?? [])
    .filter(
      (rule) =>
        (rule.element === '' || rule.element === element) &&
        (rule.id === '' || rule.id === id) &&
        rule.classes.every((name) => classes.includes(name)),
    )
    .sort((left, right) => specificity(left) - specificity(right));
  return new Map(matching.flatMap(({ declarations }) => [...declarations]));
}

const specificity = ({ element, id, classes }: Rule): number =>
  (id === '' ? 0 : 100) + 10 * classes.length + (element === '' ? 0 : 1);

/** The part of a selector by which its rule is found. */
const keyOf = ({ element, id, classes: [name] }: Rule): string => {
  if (id !== '') return `#${id}`;
  if (name !== undefined) return `.${name}`;
  return element === '' ? '*' : element;
};

function parseSelector(selector: string): Rule | undefined {
  if (selector.length > 200 || !/^(?:\*|[\w-]*)(?:[.#][\w-]+)*$/.test(selector) || selector === '')
    return undefined;
  const names = selector.split(/(?=[.#])/);
  const id = names.find((name) => name.startsWith('#'))?.slice(1) ?? '';
  const classes = names.filter((name) => name.startsWith('.')).map((name) => name.slice(1));
  const element = /^[\w-]*/.exec(selector)?.[0].toLowerCase() ?? '';
  return { element, id, classes, declarations: new Map() };
}

/** Splits a style sheet without comments into its rules; the body of an at-rule may hold others. */
function* splitRules(text: string): Iterable<{ selectors: string; body: string }> {
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf('{', at);
    if (open === -1) return;
    const selectors = text.slice(at, open).split(';').at(-1)?.trim() ?? '';
    const close = endOfBraces(text, open);
    yield { selectors, body: text.slice(open + 1, close) };
    at = close + 1;
  }
}

function withoutComments(css: string): string {
  const [first = '', ...rest] = css.replace(/<!--|-->|<!\[CDATA\[|\]\]>/g, '').split('/*');
  return first + rest.map((piece) => piece.slice(endOf(piece, '*/'))).join('');
}

const endOf = (text: string, mark: string): number => {
  const found = text.indexOf(mark);
  return found === -1 ? text.length : found + mark.length;
};

function endOfBraces(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1;
    else if (text[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return text.length;
}
