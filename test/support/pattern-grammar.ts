import { parseRegExpLiteral, visitRegExpAST, type AST } from '@eslint-community/regexpp';
import type { Grammar } from './attacks.js';

const PROBES = [
  'a',
  'A',
  '0',
  ' ',
  '\n',
  '-',
  '_',
  '.',
  '"',
  '<',
  '>',
  '/',
  'é',
  '\u0301',
  '的',
  'ء',
  '\ud800',
  'x',
];
const MAX_TOKENS = 12;

/** Tokens that a pattern is made of, and what leads to each of its repetitions. */
export function grammarOf(literal: RegExp): Grammar {
  const { pattern } = parseRegExpLiteral(literal);
  const flags = literal.flags.includes('v') ? 'v' : 'u';
  const characters = new Set<string>();
  const quantifiers: AST.Quantifier[] = [];
  visitRegExpAST(pattern, {
    onCharacterEnter: ({ value }) => characters.add(String.fromCodePoint(value)),
    onQuantifierEnter: (node) => quantifiers.push(node),
  });
  const alphabet = [...characters, ...PROBES];
  const sample = (node: AST.Element): string => sampleOf(node, alphabet, flags);
  const tokens = new Set<string>();
  const prefixes = new Set<string>();
  for (const quantifier of quantifiers) {
    if (quantifier.max < 20) continue;
    prefixes.add(leadTo(quantifier, sample));
    // Two repetitions can exchange the text that both take.
    for (const one of alphabet) {
      if (matches(quantifier.element, one, flags)) tokens.add(one);
      if (tokens.size > MAX_TOKENS / 2) break;
    }
    tokens.add(sample(quantifier.element));
  }
  for (const { elements } of pattern.alternatives) tokens.add(elements.map(sample).join(''));
  const known = [...tokens].filter((token) => token !== '').slice(0, MAX_TOKENS);
  return { tokens: known, prefixes: [...prefixes].filter((prefix) => prefix !== '') };
}

/** A text that the pattern takes before it comes to `node`. */
function leadTo(node: AST.Node, sample: (node: AST.Element) => string): string {
  const { parent } = node;
  if (!parent) return '';
  if (parent.type !== 'Alternative') return leadTo(parent, sample);
  const place = parent.elements.findIndex((element) => element === node);
  return leadTo(parent, sample) + parent.elements.slice(0, place).map(sample).join('');
}

/** One text that an element takes; empty where nothing of the alphabet is. */
function sampleOf(node: AST.Element, alphabet: readonly string[], flags: string): string {
  switch (node.type) {
    case 'Group':
    case 'CapturingGroup':
      return (node.alternatives[0]?.elements ?? []).map((inner) => sampleOf(inner, alphabet, flags)).join('');
    case 'Quantifier':
      return sampleOf(node.element, alphabet, flags).repeat(Math.max(1, node.min));
    case 'Assertion':
      return '';
    case 'Character':
      return String.fromCodePoint(node.value);
    default:
      return alphabet.find((one) => matches(node, one, flags)) ?? '';
  }
}

function matches(node: AST.Element, text: string, flags: string): boolean {
  try {
    return new RegExp(`^(?:${node.raw})$`, flags).test(text);
  } catch {
    // Not every escape stands in a pattern that is read by code points.
    return new RegExp(`^(?:${node.raw})$`).test(text);
  }
}
