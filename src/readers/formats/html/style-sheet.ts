import { parseDeclarations, withoutComments, type Declarations } from './declarations.js';
import { parseSelectors, type Subject } from './selectors.js';

const MAX_CHARACTERS = 262_144;
/** Most selectors of a style sheet. Rules behind them are not read. */
const MAX_SELECTORS = 8_000;
const MAX_DEPTH = 4;

export interface SheetRule {
  readonly subjects: readonly Subject[];
  readonly declarations: Declarations;
  /** True if the rule may hold or not, as within `@media (min-width: 600px)`. */
  readonly isVague: boolean;
}

/** A style sheet in its rules. */
export interface StyleSheet {
  readonly rules: readonly SheetRule[];
  /** True if there are other rules, which were not read. */
  readonly isCut: boolean;
}

/** At-rules whose content holds on every screen, on none, and on some. */
const ON_SCREENS = /^@media\s+(?:only\s+)?(?:all|screen)$/i;
const ON_PAPER = /^@media\s+(?:only\s+)?(?:print|speech)\b[^,]*$/i;
const ON_SOME = /^@(?:media|supports|container|layer|scope|document|-moz-document)\b/i;

/** Reads a style sheet. Of a long one the beginning is read. */
export function parseStyleSheet(css: string): StyleSheet {
  const rules: SheetRule[] = [];
  let selectorCount = 0;
  let isCut = css.length > MAX_CHARACTERS || /@import/i.test(css);
  const read = (text: string, isVague: boolean, depth: number): void => {
    for (const { selectors, body } of splitRules(text)) {
      const isNest = body.includes('{');
      if (isNest && depth >= MAX_DEPTH) isCut = true;
      else if (!selectors.startsWith('@')) {
        const declarations = parseDeclarations(body);
        const subjects = declarations.size > 0 ? parseSelectors(selectors) : [];
        selectorCount += subjects.length;
        if (selectorCount > MAX_SELECTORS) isCut = true;
        else if (subjects.length > 0) rules.push({ subjects, declarations, isVague: isVague || isNest });
        if (isNest) read(body, true, depth + 1);
      } else if (ON_SCREENS.test(selectors)) read(body, isVague, depth + 1);
      else if (ON_SOME.test(selectors) && !ON_PAPER.test(selectors)) read(body, true, depth + 1);
    }
  };
  const unwrapped = css.slice(0, MAX_CHARACTERS).replace(/<!--|-->|<!\[CDATA\[|\]\]>/g, '');
  read(withoutComments(unwrapped), false, 0);
  return { rules, isCut };
}

/** Splits a style sheet without comments into its rules; the body of an at-rule may hold others. */
function* splitRules(text: string): Iterable<{ selectors: string; body: string }> {
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf('{', at);
    if (open === -1) return;
    const before = text.slice(at, open);
    const selectors = before.slice(before.lastIndexOf(';') + 1).trim();
    const close = endOfBraces(text, open);
    yield { selectors, body: text.slice(open + 1, close) };
    at = close + 1;
  }
}

function endOfBraces(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1;
    else if (text[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return text.length;
}
