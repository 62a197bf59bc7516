import { expect, test } from '@jest/globals';
import { Linter } from 'eslint';
import { commentOpenings } from '../../scripts/lint/comment-openings.mjs';

/** The lines of the comments that the rule refuses. */
function refusedIn(...lines: readonly string[]): number[] {
  const plugins = { house: { rules: { 'comment-openings': commentOpenings } } };
  const config = { plugins, rules: { 'house/comment-openings': 'error' } } as const;
  return new Linter().verify(lines.join('\n'), config).map(({ line }) => line);
}

test('a comment that begins with "What" or "Whether" is refused, in each form of comments', () => {
  const lines = [
    '// What remains.',
    'const left = 1; // Whether it is over.',
    '/** What was read. */',
    '/**',
    ' * Whether it is whole.',
    ' */',
    'const whole = /* What else. */ left;',
  ];
  expect(refusedIn(...lines)).toEqual([1, 2, 3, 4, 7]);
});

test('a comment that begins with its subject or a verb is accepted, whatever words follow', () => {
  const lines = [
    '/** Tells whether it is whole. What else there is does not matter. */',
    'const isWhole = true;',
    '// The rest says',
    '// What a line that goes on begins with is no opening.',
    'const text = "// What a text holds is no comment.";',
    '// Whatsoever and what-if are other words; so is what in small letters.',
    '// what',
  ];
  expect(refusedIn(...lines)).toEqual([]);
});

test('lines below each other are comments of their own where they stand apart, and the message names the word', () => {
  expect(refusedIn('// One.', '', '// What two.', 'const a = 1; // Three.', '// What four.')).toEqual([3, 5]);
  const plugins = { house: { rules: { 'comment-openings': commentOpenings } } };
  const config = { plugins, rules: { 'house/comment-openings': 'error' } } as const;
  const [refusal] = new Linter().verify('// Whether it is over.', config);
  expect(refusal?.message).toMatch(/begins with its subject, not with "Whether"/);
});
