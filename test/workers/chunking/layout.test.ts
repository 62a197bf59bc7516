import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { countTokens } from '../../../src/shared/text/token-count.js';
import { chunkText } from '../../../src/workers/chunking/chunk.js';
import type { Block } from '../../../src/readers/blocks/block.js';
import { createBlockCollector } from '../../../src/workers/parse/extraction.js';
import { tableBlocks } from '../../../src/readers/formats/tables/table-blocks.js';

const collect = (blocks: Iterable<Block>) => {
  const collector = createBlockCollector();
  for (const block of blocks) collector.add(block);
  return collector.end();
};

const chunksOf = (blocks: Iterable<Block>, options = { size: 64, overlap: 16 }) => {
  const { text, layout } = collect(blocks);
  return chunkText(text, options, layout);
};

const paragraph = (text: string): Block => ({ text: `${text}\n\n` });
const cellsOf = (n: number) => [
  `Town ${String(n)}`,
  String(1000 + n),
  'A quiet place. Few people live there.',
];
const towns = (count: number) => [
  ...[['Town', 'Inhabitants', 'Remark'], ...Array.from({ length: count }, (_, n) => cellsOf(n))].map(
    (cells) => ({
      cells,
    }),
  ),
];
const HEADER = '| Town | Inhabitants | Remark |\n| --- | --- | --- |\n';

describe('a table', () => {
  const chunks = chunksOf([paragraph('Before it.'), ...tableBlocks(towns(40)), paragraph('After it.')]);

  test('is never cut within a row, and each chunk of it begins with the names of its columns', () => {
    expect(chunks.length).toBeGreaterThan(8);
    for (const { text } of chunks) {
      for (const line of text.trim().split('\n'))
        expect(line).toMatch(/^(?:\|.*\||Before it\.|After it\.|)$/);
      if (/\| Town \d/.test(text)) expect(text.indexOf(HEADER)).toBeGreaterThanOrEqual(0);
      expect(text.split(HEADER).length).toBeLessThanOrEqual(2);
    }
  });

  test('loses nothing and repeats nothing where the chunks are joined without what they repeat', () => {
    const whole = collect([paragraph('Before it.'), ...tableBlocks(towns(40)), paragraph('After it.')]).text;
    expect(chunks.map(({ text, overlap }) => text.slice(overlap)).join('')).toBe(whole.trim());
  });

  test('keeps chunks within their size, with the repeated header counted', () => {
    for (const { text, tokenCount } of chunks) {
      expect(tokenCount).toBe(countTokens(text));
      expect(tokenCount).toBeLessThanOrEqual(64);
    }
  });

  test('with a row that is longer than a chunk is cut within that row only', () => {
    const long = { cells: ['Town long', '1', 'Much is told of it, and more. '.repeat(40)] };
    const cut = chunksOf(tableBlocks([...towns(3), long, ...towns(3).slice(1)]));
    for (const n of [0, 1, 2])
      expect(cut.some(({ text }) => text.includes(`| Town ${String(n)} |`))).toBe(true);
    const within = cut.filter(({ text }) => !text.trim().endsWith('|'));
    for (const { text } of within) expect(text).toContain('Much is told');
  });

  test('whose header would take more than half of each chunk does not repeat it', () => {
    const names = Array.from({ length: 24 }, (_, n) => `column ${String(n)}`);
    const rows = Array.from({ length: 10 }, () => ({ cells: names.map((_, n) => String(n)) }));
    const [first, ...others] = chunksOf(tableBlocks([{ cells: names }, ...rows]), { size: 128, overlap: 0 });
    expect(first?.text).toContain('column 1');
    for (const { text } of others) expect(text).not.toContain('column 1');
  });
});

test('names of columns are repeated up to 2,000 characters, whatever the format', () => {
  const headerOf = (header: string) => collect([{ text: 'a row', row: { header } }]).layout.rows[0]?.header;
  expect(headerOf('x'.repeat(2_000))).toHaveLength(2_000);
  expect(headerOf('x'.repeat(2_001))).toBe('');
});

test('a chunk begins with each part, and never reaches into the next', () => {
  const parts = ['one', 'two', 'three'].map((text): Block => ({ text: `Sheet ${text}.\n\n`, isPart: true }));
  expect(chunksOf(parts).map(({ text }) => text.trim())).toEqual([
    'Sheet one.',
    'Sheet two.',
    'Sheet three.',
  ]);
});

test('a heading is not parted from what it heads', () => {
  const blocks = Array.from({ length: 12 }, (_, n): Block[] => [
    { text: `Heading ${String(n)}\n\n`, heading: 2 },
    paragraph(`Text ${String(n)} says something. `.repeat(4)),
  ]).flat();
  for (const { text } of chunksOf(blocks)) expect(text.trim()).not.toMatch(/Heading \d+$/);
});

test('whatever the blocks are, the chunks joined are the text, within their size', () => {
  const words = fc.lorem({ maxCount: 30 });
  const block = fc.oneof(
    words.map((text): Block[] => [paragraph(text)]),
    words.map((text): Block[] => [{ text: `${text}\n\n`, heading: 1 }]),
    words.map((text): Block[] => [{ text: `${text}\n`, isPart: true }]),
    fc
      .array(fc.array(fc.lorem({ maxCount: 6 }), { minLength: 1, maxLength: 4 }), {
        minLength: 1,
        maxLength: 8,
      })
      .map((rows) => [...tableBlocks(rows.map((cells) => ({ cells })))]),
  );
  fc.assert(
    fc.property(fc.array(block, { maxLength: 12 }), fc.integer({ min: 16, max: 64 }), (blocks, size) => {
      const all = blocks.flat();
      const chunks = chunksOf(all, { size, overlap: Math.floor(size / 4) });
      const text = all.map((each) => each.text).join('');
      expect(
        chunks
          .map((each) => each.text.slice(each.overlap))
          .join('')
          .trim(),
      ).toBe(text.trim());
      for (const { tokenCount } of chunks) expect(tokenCount).toBeLessThanOrEqual(size);
    }),
    { numRuns: 200 },
  );
});
