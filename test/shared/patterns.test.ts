import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import ts from 'typescript';
import { findSlow } from '../support/attacks.js';
import { grammarOf } from '../support/pattern-grammar.js';

const SIZE = 16_384;
const source = new URL('../../src/', import.meta.url).pathname;

/** Every pattern that stands in a file. */
function patternsOf(file: string): string[] {
  const tree = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const walk = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) found.push(node.text);
    ts.forEachChild(node, walk);
  };
  walk(tree);
  return found;
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
);
const patterns = [...new Set(files.flatMap((name) => patternsOf(join(source, name))))];

const toPattern = (literal: string): RegExp => {
  const end = literal.lastIndexOf('/');
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
};

/** All matches of it, as `replace` and `split` look for them; a sticky one looks nowhere else. */
const search = (pattern: RegExp) => {
  const global = new RegExp(pattern.source, [...new Set([...pattern.flags, 'g'])].join(''));
  return (text: string) => text.replace(global, '');
};

const slow = (pattern: RegExp, limits: { readonly size: number; readonly hangs?: number } = { size: SIZE }) =>
  findSlow({ parse: search(pattern), ...grammarOf(pattern), ...limits });

test('no pattern of the source takes longer for a text than the text is long, searched for everywhere', () => {
  expect(patterns.length).toBeGreaterThan(100);
  const guilty = patterns.map((literal) => ({ literal, slow: slow(toPattern(literal)) }));
  expect(guilty.filter(({ slow: found }) => found !== null)).toEqual([]);
});

test.each([
  /^(?:<!--[^]*?-->\s*|<\?xml[^>]*>\s*)*<(?:!doctype\s+html|html)[\s>]/i,
  /^\s*([\w-]+)\s*(?:=\s*(?:"([^"]*)"|(\S*)))?\s*$/,
  /<meta[^>]+charset\s*=\s*["']?\s*([\w:.-]+)/i,
  /\/+$/,
  /[\t ]+\n/g,
  /(?<=[a-zæœø][\u0300-\u036f]*)[\u0300-\u036f]+/gu,
])('and the measure finds those that once stood there: %s', (pattern) => {
  // Twice the size, so that a fast machine tells them from noise, too.
  expect(slow(pattern, { size: 2 * SIZE, hangs: 1_000 })).not.toBeNull();
});
