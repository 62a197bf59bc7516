import { expect, test } from '@jest/globals';
import { useParserPool } from '../../support/use-parser-pool.js';

// Bounds that exist because a file may take its parser over must not keep honest files out.
const { startPool, file } = useParserPool();

const WORDS =
  'administration communication environmental responsibilities infrastructure characteristics transportation recommendations organization'.split(
    ' ',
  );
const ANSWERS = ['አዲስ', 'አበባ', 'ኢትዮጵያ', 'ከተማ', 'ቤተሰብ', 'ትምህርት'];

function question(number: number): string {
  let text = `Q${String(number + 1)}`;
  for (let next = 0; ; next += 1) {
    const word = ` ${WORDS[(number * 2 + next) % WORDS.length] ?? ''}`;
    if (text.length + word.length > 80) return text.padEnd(80, '.');
    text += word;
  }
}

const row = (cells: number, cell: (column: number) => string): string =>
  `${Array.from({ length: cells }, (_, column) => cell(column)).join(',')}\n`;

test('a survey of 3 MB with long questions and short Amharic answers is read with the default settings', async () => {
  const lines = [row(22, question)];
  for (let line = 0; line < 19_900; line += 1)
    lines.push(row(22, (column) => (column < 11 ? (ANSWERS[(line + column) % 6] ?? '') : '')));
  const parser = startPool({ chunk: { size: 512, overlap: 64 }, maxChunks: 20_000 });
  const { chunks } = await parser.parse({ path: await file(lines.join('')), format: 'csv' });
  expect(chunks).toHaveLength(19_900);
});

test.each([
  [
    'the flag of England is read in chunks of 16 tokens',
    `A match: ${'\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F} won. '.repeat(5)}`,
    16,
  ],
  [
    'a letter with many marks is read in chunks of 128 tokens',
    `Hello Z${'\u0301\u0316\u0354'.repeat(60)} and more. `.repeat(5),
    128,
  ],
])('%s', async (_name, text, size) => {
  const parser = startPool({ chunk: { size, overlap: 0 } });
  const { chunks } = await parser.parse({ text, format: 'text' });
  expect(chunks.map((chunk) => chunk.text).join('')).toBe(text.trim());
});
