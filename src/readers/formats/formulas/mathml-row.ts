import { gapBetween, type FormulaElement } from './linear.js';

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
export function writeTokens(
  elements: Iterable<FormulaElement>,
  write: (element: FormulaElement) => string,
): string {
  const parts: string[] = [];
  let last: Token = { text: '', isWord: false };
  let between = '';
  for (const element of elements) {
    const written = write(element);
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
