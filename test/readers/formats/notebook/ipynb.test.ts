import { describe, expect, test } from '@jest/globals';
import { readBlocks } from '../../../support/read-blocks.js';

const notebook = (
  cells: readonly unknown[],
  metadata: unknown = { kernelspec: { language: 'python' } },
): string => JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 });
const code = (source: string | readonly string[], outputs: readonly unknown[] = []) => ({
  cell_type: 'code',
  source,
  outputs,
});

describe('a notebook', () => {
  test('has its cells in order, headings of Markdown and code between fences', async () => {
    const { blocks, text } = await readBlocks(
      'notebook',
      notebook([
        {
          cell_type: 'markdown',
          source: ['# Title\n', '\n', 'Some text.\n', '## Part\n', '```\n', '# no heading\n', '```'],
        },
        code(['import x\n', 'x.run()']),
        { cell_type: 'raw', source: 'raw text' },
      ]),
    );
    expect(blocks.filter(({ heading }) => heading).map(({ text: line, heading }) => [line, heading])).toEqual(
      [
        ['# Title\n\n', 1],
        ['## Part\n\n', 2],
      ],
    );
    expect(text).toBe(
      '# Title\n\nSome text.\n\n## Part\n\n```\n# no heading\n```\n\n```python\nimport x\nx.run()\n```\n\nraw text\n\n',
    );
  });

  test('has outputs as text, and pictures as gaps', async () => {
    const png = 'iVBORw0KGgo'.repeat(100);
    const { text, receipt } = await readBlocks(
      'notebook',
      notebook([
        code('a', [
          { output_type: 'stream', name: 'stdout', text: ['10%\r50%\r100%\n', 'done\n'] },
          { output_type: 'execute_result', data: { 'text/plain': ['42'], 'text/html': '<b>42</b>' } },
          {
            output_type: 'display_data',
            data: { 'image/png': png, 'text/plain': '<Figure size 640x480 with 1 Axes>' },
          },
          { output_type: 'error', ename: 'ValueError', evalue: 'wrong', traceback: ['\u001b[0;31mlong'] },
          { output_type: 'stream', text: '\u001b[31mred\u001b[0m' },
        ]),
        {
          cell_type: 'markdown',
          source: `![](data:image/png;base64,${png}) ![](attachment:a.png)`,
          attachments: { 'a.png': { 'image/png': png } },
        },
      ]),
    );
    expect(text).toContain('```\n100%\ndone\n```');
    expect(text).toContain('```\n42\n```');
    expect(text).toContain('ValueError: wrong');
    expect(text).toContain('```\nred\n```');
    expect(text).not.toMatch(/iVBORw|Figure|<b>|long/);
    expect(receipt.gap_counts).toEqual({ skipped: 3 });
  });

  test('of version 3 is read, too', async () => {
    const raw = JSON.stringify({
      nbformat: 3,
      metadata: { name: '' },
      worksheets: [
        {
          cells: [
            { cell_type: 'heading', level: 2, source: 'Old' },
            {
              cell_type: 'code',
              language: 'python',
              input: ['print(1)'],
              outputs: [{ output_type: 'stream', text: '1' }],
            },
          ],
        },
      ],
    });
    const { blocks, text } = await readBlocks('notebook', raw);
    expect(blocks[0]).toEqual({ text: 'Old\n\n', heading: 2 });
    expect(text).toContain('```python\nprint(1)\n```\n\n```\n1\n```');
  });

  test('keeps fences apart from those of its code', async () => {
    const { text } = await readBlocks('notebook', notebook([code('"""\n```\nx\n```\n"""')]));
    expect(text).toMatch(/^````python\n/);
    expect(text).toMatch(/\n````\n\n$/);
  });

  test('that is broken, or no notebook, fails as corrupt', async () => {
    await expect(readBlocks('notebook', '{"cells": [{"cell_type": "co')).rejects.toMatchObject({
      code: 'corrupt',
      message: 'The notebook is not valid JSON.',
    });
    for (const raw of ['{"a": 1}', '[]', '{"cells": 5}', '{"cells": [5]}'])
      await expect(readBlocks('notebook', raw)).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('with odd parts keeps the others', async () => {
    const odd = [
      { source: 5 },
      { cell_type: 'code', source: 'fine', outputs: [3, { text: 4 }, { data: [] }] },
      { cell_type: 7 },
    ];
    expect((await readBlocks('notebook', notebook(odd, 5))).text).toBe('```\nfine\n```\n\n');
  });

  test('that is nested deeply does no harm', async () => {
    const deep = `{"cells": [], "metadata": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect((await readBlocks('notebook', deep)).text).toBe('');
  });
});
