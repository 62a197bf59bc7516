import { at } from '../../../shared/at.js';
import { attribute } from '../xml/read-markup.js';
import { oneLine } from '../../blocks/one-line.js';
import { localName } from '../xml/attributes.js';
import {
  accented,
  accentOf,
  arranged,
  fraction,
  MAX_NESTED,
  plainText,
  root,
  stacked,
  underlined,
  underSign,
  withLimits,
  withPrescripts,
  withScripts,
  gapBetween,
  type FormulaElement,
} from './linear.js';

/** Collects the elements of a formula in MathML from the events of a parser of markup. */
export interface MathCollector {
  /** Tells whether a formula is open. */
  isOpen(): boolean;
  /** Takes the beginning of an element, of a formula itself, too. Returns false for one outside of formulas. */
  open(name: string, attributes: FormulaElement['attributes']): boolean;
  text(text: string): void;
  /** Takes the end of an element. Returns the text of the formula that ends with it. */
  close(name: string): string | undefined;
  /** Ends a formula that was not closed, and returns its text; undefined where none is open. */
  end(): string | undefined;
}

export function createMathCollector(): MathCollector {
  let open: OpenElement[] = [];
  const end = (): string | undefined => {
    const [formula] = open;
    open = [];
    return formula && writeMathMl(formula);
  };
  return {
    isOpen: () => open.length > 0,
    open: (name, attributes) => {
      const local = localName(name).toLowerCase();
      const holder = open.at(-1);
      if (!holder && local !== 'math') return false;
      const element: OpenElement = { name: local, attributes, children: [] };
      holder?.children.push(element);
      open.push(element);
      return true;
    },
    text: (text) => void open.at(-1)?.children.push(text),
    close: (name) => {
      const local = localName(name).toLowerCase();
      const depth = open.findLastIndex((element) => element.name === local);
      if (depth === 0) return end();
      if (depth > 0) open.length = depth;
      return undefined;
    },
    end,
  };
}

interface OpenElement extends FormulaElement {
  readonly children: (FormulaElement | string)[];
}

/**
 * Writes a formula in MathML as linear text, as UnicodeMath does. Names are without prefixes.
 * @see MathML Core and MathML 3, chapter 3; Unicode Technical Note 28
 */
function writeMathMl(formula: FormulaElement): string {
  const text = oneLine(row(formula, 0));
  return text === '' ? attribute(formula.attributes, 'alttext').trim() : text;
}

/** The elements within another one; text that stands beside them, as where people write none, is one of its own. */
const elementsOf = ({ children }: FormulaElement): FormulaElement[] =>
  children.flatMap((child) => {
    if (typeof child !== 'string') return [child];
    return child.trim() === '' ? [] : [{ name: 'mtext', attributes: {}, children: [child] }];
  });

/** Elements that only hold others in a row. */
const ROWS = new Set('math mrow mstyle mpadded merror mtd'.split(' '));
/** Elements that are not shown. */
const UNSEEN = new Set(
  'mphantom annotation annotation-xml maligngroup malignmark none mprescripts'.split(' '),
);

/** Tells whether an element is a row of several, without brackets of its own. */
const isGroup = (element: FormulaElement | undefined): boolean =>
  element !== undefined && ['mrow', 'mstyle'].includes(element.name) && elementsOf(element).length > 1;

const isSlash = (element: FormulaElement | undefined): boolean =>
  element?.name === 'mo' && plainText(element).trim() === '/';

/** A slash beside a group is a fraction, as LibreOffice writes `{a+b}/c`: without its group it would divide b alone. */
function withFractions(elements: readonly FormulaElement[]): FormulaElement[] {
  const found: FormulaElement[] = [];
  for (let index = 0; index < elements.length; index += 1) {
    const [left, slash, right] = elements.slice(index, index + 3);
    if (!left) continue;
    if (right && isSlash(slash) && (isGroup(left) || isGroup(right))) {
      found.push({ name: 'mfrac', attributes: {}, children: [left, right] });
      index += 2;
    } else found.push(left);
  }
  return found;
}

/** Yields the elements of a row, with containers replaced by their elements. */
function* flat(element: FormulaElement, depth: number): Iterable<FormulaElement> {
  for (const child of withFractions(elementsOf(element))) {
    if (depth < MAX_NESTED && ROWS.has(child.name) && child.name !== 'mtd') yield* flat(child, depth + 1);
    else yield child;
  }
}

function row(element: FormulaElement | undefined, depth: number): string {
  if (!element || UNSEEN.has(element.name)) return '';
  if (depth > MAX_NESTED) return plainText(element);
  if (!ROWS.has(element.name)) return write(element, depth);
  return writeTokens(flat(element, depth), (child) => write(child, depth + 1));
}

type Write = (parts: readonly FormulaElement[], element: FormulaElement, depth: number) => string;

const WRITERS: ReadonlyMap<string, Write> = new Map<string, Write>([
  ['mfrac', writeFraction],
  ['msqrt', (parts, _element, depth) => root(rowOf(parts, depth))],
  ['mroot', ([base, degree], _element, depth) => root(row(base, depth), row(degree, depth))],
  ['msup', ([base, above], _element, depth) => scripts(base, { above }, depth)],
  ['msub', ([base, below], _element, depth) => scripts(base, { below }, depth)],
  ['msubsup', ([base, below, above], _element, depth) => scripts(base, { below, above }, depth)],
  ['mover', ([base, above], _element, depth) => writeOver(base, above, depth)],
  ['munder', ([base, below], _element, depth) => writeUnder(base, below, depth)],
  ['munderover', ([base, below, above], _element, depth) => scripts(base, { below, above }, depth)],
  ['mmultiscripts', writeMultiscripts],
  ['mfenced', writeFenced],
  ['mtable', writeTable],
  ['menclose', writeEnclosed],
  ['semantics', ([shown], _element, depth) => row(shown, depth)],
  ['maction', ([shown], _element, depth) => row(shown, depth)],
]);

function write(element: FormulaElement, depth: number): string {
  const { name } = element;
  if (UNSEEN.has(name)) return '';
  if (depth > MAX_NESTED) return plainText(element);
  const writer = WRITERS.get(name);
  if (writer) return writer(elementsOf(element), element, depth + 1);
  if (name === 'mspace') return isWide(element) ? ' ' : '';
  if (name === 'mglyph') return attribute(element.attributes, 'alt');
  if (ROWS.has(name)) return row(element, depth);
  const text = plainText(element);
  return name === 'ms' ? `"${text}"` : text;
}

const rowOf = (parts: readonly FormulaElement[], depth: number): string =>
  row({ name: 'mrow', attributes: {}, children: parts }, depth);

/** Narrow spaces only set signs apart. */
function isWide({ attributes }: FormulaElement): boolean {
  const width = attribute(attributes, 'width').trim();
  return (
    /^(?:medium|thick|verythick|veryverythick)mathspace$/.test(width) || Number.parseFloat(width) >= 0.25
  );
}

/** Operators, and names of functions, whose limits stand below and above them. */
const LARGE = /^(?:[∏-∑∫-∳⋀-⋃⨀-⨜]|lim|lim ?sup|lim ?inf|max|min|sup|inf|arg ?max|arg ?min|gcd|det|Pr)$/;

interface ScriptElements {
  readonly below?: FormulaElement | undefined;
  readonly above?: FormulaElement | undefined;
}

const scripts = (base: FormulaElement | undefined, { below, above }: ScriptElements, depth: number): string =>
  scripted(row(base, depth), { below: row(below, depth), above: row(above, depth) });

const scripted = (base: string, texts: { readonly below?: string; readonly above?: string }): string =>
  LARGE.test(base.trim()) ? withLimits(base, texts) : withScripts(base, texts);

function writeFraction(
  [above, below]: readonly FormulaElement[],
  { attributes }: FormulaElement,
  depth: number,
): string {
  const isBinomial = /^0+(?:\.0*)?[a-z%]*$/.test(attribute(attributes, 'linethickness').trim());
  return (isBinomial ? stacked : fraction)(row(above, depth), row(below, depth));
}

/** Braces and arrows over or under several things. */
const SPANNING = /^[⏞⏟⏜⏝⎴⎵︷︸]$/u;

// Each part is written once, or the time would double with each level of nesting.
function writeOver(
  base: FormulaElement | undefined,
  above: FormulaElement | undefined,
  depth: number,
): string {
  const [text, over] = [row(base, depth), row(above, depth).trim()];
  const accent = accentOf(over);
  if (SPANNING.test(over)) return underSign(over, text);
  return accent === undefined ? scripted(text, { above: over }) : accented(text, accent);
}

function writeUnder(
  base: FormulaElement | undefined,
  below: FormulaElement | undefined,
  depth: number,
): string {
  const [text, under] = [row(base, depth), row(below, depth).trim()];
  if (SPANNING.test(under)) return underSign(under, text);
  return /^[_¯‾―─\u0332]$/u.test(under) ? underlined(text) : scripted(text, { below: under });
}

/** Writes a base with pairs of low and high scripts behind it, and in front of it where they follow `mprescripts`. */
function writeMultiscripts(
  [base, ...rest]: readonly FormulaElement[],
  _element: FormulaElement,
  depth: number,
): string {
  const border = rest.findIndex(({ name }) => name === 'mprescripts');
  const [behind, before] = border < 0 ? [rest, []] : [rest.slice(0, border), rest.slice(border + 1)];
  const pairs = (elements: readonly FormulaElement[]) => ({
    below: elements.flatMap((element, index) => (index % 2 === 0 ? [row(element, depth)] : [])).join(''),
    above: elements.flatMap((element, index) => (index % 2 === 1 ? [row(element, depth)] : [])).join(''),
  });
  return withPrescripts(withScripts(row(base, depth), pairs(behind)), pairs(before));
}

function writeFenced(
  parts: readonly FormulaElement[],
  { attributes }: FormulaElement,
  depth: number,
): string {
  const { open = '(', close = ')', separators = ',' } = attributes;
  const signs = Array.from(separators.replace(/\s/g, ''));
  const inside = parts
    .map((each, index) => (index === 0 ? '' : (signs[index - 1] ?? signs.at(-1) ?? '')) + row(each, depth))
    .join('');
  return open.trim() + inside + close.trim();
}

function writeTable(rows: readonly FormulaElement[], _element: FormulaElement, depth: number): string {
  const cells = rows.map((line) => {
    const found = elementsOf(line);
    // The first cell is the number of the equation.
    return (line.name === 'mlabeledtr' ? found.slice(1) : found).map((cell) => row(cell, depth));
  });
  if (cells.length === 1 && at(cells, 0).length === 1) return at(at(cells, 0), 0);
  return arranged(cells);
}

function writeEnclosed(
  parts: readonly FormulaElement[],
  { attributes }: FormulaElement,
  depth: number,
): string {
  const inside = rowOf(parts, depth);
  return /(?:^|\s)radical(?:\s|$)/.test(attribute(attributes, 'notation')) ? root(inside) : inside;
}

interface Token {
  readonly text: string;
  /** True for a word, such as the name of a function, in contrast to letters that stand for numbers. */
  readonly isWord: boolean;
}

/** Invisible signs that say how two tokens belong together. */
const APPLICATION = '\u2061';
const TIMES = '\u2062';
const SEPARATOR = '\u2063';
const PLUS = '\u2064';

/** Joins the elements of a row. Words stand apart from their neighbours, signs do not. */
function writeTokens(
  elements: Iterable<FormulaElement>,
  textOf: (element: FormulaElement) => string,
): string {
  const parts: string[] = [];
  let last: Token = { text: '', isWord: false };
  let between = '';
  for (const element of elements) {
    const written = textOf(element);
    const sign = written.trim();
    if (sign.length === 1 && [APPLICATION, TIMES, SEPARATOR, PLUS].includes(sign)) {
      between = sign;
      continue;
    }
    if (written === '') continue;
    const token = { text: written, isWord: isWord(element) };
    const gap = gapOf(last, token, between);
    parts.push(gap === '' ? gapBetween(last.text, written) : gap, written);
    last = token;
    between = '';
  }
  return parts.join('');
}

const WORD = /^\p{L}[\p{L}\p{M}]+/u;
const SCRIPTED = new Set('msub msup msubsup munder mover munderover'.split(' '));
const NAMES = new Set(['mi', 'mo', 'mtext', 'ms']);

function isWord({ name, children }: FormulaElement): boolean {
  const [first] = children;
  if (SCRIPTED.has(name)) {
    const base = children.find((child) => typeof child !== 'string');
    return base !== undefined && isWord(base);
  }
  return name === 'mtext' || (NAMES.has(name) && typeof first === 'string' && WORD.test(first.trim()));
}

function gapOf(left: Token, right: Token, between: string): string {
  const [before, after] = [left.text.slice(-1), right.text.slice(0, 1)];
  if (before === '' || before === ' ' || after === ' ') return '';
  if (isDigit(before) && isDigit(after)) return between === SEPARATOR ? ',' : ' ';
  if (between === PLUS) return ' ';
  if (between === APPLICATION) return '([{'.includes(after) ? '' : ' ';
  const isApart = (left.isWord && OPERAND_START.test(after)) || (right.isWord && OPERAND_END.test(before));
  return isApart ? ' ' : '';
}

const isDigit = (character: string): boolean => /^\p{Nd}$/u.test(character);
const OPERAND_START = /^[\p{L}\p{N}√∛∜∑∫∏|]$/u;
const OPERAND_END = /^[\p{L}\p{N})\]}′!|]$/u;
