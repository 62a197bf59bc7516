import { describe, expect, test } from '@jest/globals';
import { cellAt, readBlocks } from '../../../support/read-blocks.js';

const fence = '```';

describe('plain text', () => {
  test.each([
    'one\ntwo\n\n\nthree\r\n\r\nfour',
    '\n\n one',
    'a\rb\rc',
    'no end',
    '\n'.repeat(500),
    'x\n'.repeat(500),
  ])('%j stays as it is, in blocks', async (content) => {
    for (const format of ['text', 'markdown'] as const)
      expect((await readBlocks(format, content)).text).toBe(content);
  });

  test('knows the line on which each paragraph begins', async () => {
    const { blocks } = await readBlocks('text', `one\ntwo\n\nthree\n${'x\n'.repeat(60)}`);
    expect(blocks.map(({ place }) => place?.line)).toEqual([1, 4, 54]);
  });
});

describe('Markdown', () => {
  test('opens sections at headings of both kinds, and at none within code', async () => {
    const content = `# One #\ntext\n\nTwo\n---\n- item\n---\n${fence}sh\n# comment\n${fence}\n\n### Three\n#hashtag\n`;
    const { blocks, text, receipt } = await readBlocks('markdown', content);
    expect(text).toBe(content);
    expect(blocks.filter(({ heading }) => heading !== undefined)).toEqual([
      { text: '# One #\n', heading: 1, place: { line: 1 } },
      { text: 'Two\n---\n', heading: 2, place: { line: 4 } },
      { text: '### Three\n', heading: 3, place: { line: 12 } },
    ]);
    expect(receipt.title).toBe('One');
  });

  test('keeps the names of columns with each row of a table', async () => {
    const content = 'Prices:\n\n| Fruit | Price |\n| ----- | :---: |\n| Apple | 1 |\n| Pear | 2 |\n\nafter\n';
    const { blocks, text } = await readBlocks('markdown', content);
    expect(text).toBe(content);
    expect(cellAt(text, 'Pear', 'Price')).toBe('2');
    expect(blocks.find((block) => block.text.includes('Pear'))).toEqual({
      text: '| Pear | 2 |\n',
      row: { header: '| Fruit | Price |\n| ----- | :---: |\n' },
      place: { line: 6 },
    });
  });

  test.each([
    ['fences', `${fence}\n`.repeat(100_001)],
    ['rules', '|-\n'.repeat(200_000)],
    ['underlines', 'a\n---\n'.repeat(100_000)],
    ['marks in a line', '#'.repeat(1_000_000)],
    ['blanks in a line', `# ${' '.repeat(1_000_000)}x`],
  ])(
    'of very many %s is read in time, unchanged',
    async (_, content) => {
      expect((await readBlocks('markdown', content)).text).toBe(content);
    },
    10_000,
  );
});
