import { expect, test } from '@jest/globals';
import { mailLines } from '../../../support/mail-headers.js';
import { readBlocks } from '../../../support/read-blocks.js';

const part = (type: string, body: string): string => mailLines('--b', `Content-Type: ${type}`, '', body);
const mail = (type: string, ...parts: readonly string[]): string =>
  mailLines(
    'Subject: x',
    'MIME-Version: 1.0',
    `Content-Type: ${type}; boundary=b`,
    '',
    ...parts,
    '--b--',
    '',
  );

test('a message in HTML keeps headings and tables, and leaves out what nobody sees', async () => {
  const html =
    '<style>.x{display:none}</style><p>Dear Bob</p><h1>Prices</h1><table><tr><th>Item</th><th>Price</th></tr><tr><td>Pear</td><td>2</td></tr></table><p class="x">unseen</p>';
  const raw = mail('multipart/alternative', part('text/html', html));
  const { text, blocks, receipt } = await readBlocks('eml', raw);
  expect(text).toContain('| Item | Price |\n| --- | --- |\n| Pear | 2 |\n');
  expect(blocks.find((block) => block.text.startsWith('Prices'))?.heading).toBe(2);
  expect(text).not.toContain('unseen');
  expect(receipt.gap_counts).toEqual({ hidden: 1 });
  expect((await readBlocks('eml', raw, { hiddenText: 'keep' })).text).toContain('unseen');
});

test('a message of text and HTML that are no alternatives has no unseen words of the HTML in it', async () => {
  const plain = part('text/plain', 'The plain one.\r\nIn two lines.');
  const html = part('text/html', '<p>shown <b style="display:none">unseen</b></p>');
  for (const type of ['multipart/mixed', 'multipart/related']) {
    const { text, receipt } = await readBlocks('eml', mail(type, plain, html));
    expect(text).toContain('The plain one.\nIn two lines.');
    expect(text).toContain('shown');
    expect(text).not.toContain('unseen');
    expect(receipt.gap_counts).toEqual({ hidden: 1 });
  }
});
