import { expect, test } from '@jest/globals';
import { cleanText } from '../../../src/readers/blocks/clean-text.js';
import { detectFileType } from '../../../src/readers/detection/detect.js';
import { readBlocks } from '../../support/read-blocks.js';

test.each([
  ['colours of a log', '\u001b[31;1mERROR\u001b[0m failed\n', 'ERROR failed\n'],
  [
    'links of terminals',
    'see \u001b]8;;http://a.example\u0007docs\u001b]8;;\u001b\\ now\n',
    'see docs now\n',
  ],
  ['sets of characters', '\u001b(Bplain \u001b=text\n', 'plain text\n'],
  ['letters printed twice', 'N\bNA\bAM\bME\bE\n     _\bf_\bi_\bl_\be of it\n', 'NAME\n     file of it\n'],
  ['a bell and the end of a file of DOS', 'done\u0007, all of it\r\n\u001a', 'done, all of it\r\n'],
])('%s are no part of a text, and nothing is guessed of it', async (_name, written, shown) => {
  const bytes = Buffer.from(written);
  expect(detectFileType(bytes, 'a.log', null)?.format).toBe('text');
  const { text, receipt } = await readBlocks('text', bytes);
  expect(cleanText(text)).toBe(shown);
  expect(receipt.gap_count).toBe(0);
});

test('letters of windows-1252 that became controls on the way to UTF-8 are letters again', () => {
  expect(cleanText('isn\u0092t \u009350 \u0080\u0094 \u0096 a\u0085b')).toBe('isn’t “50 €” – a\u0085b');
});

test('what stands beside a separator of fields, or is in no letter of windows-1252, joins no words', () => {
  expect(cleanText('name\u001fplace\u001enext, a\u0081b')).toBe('name place next, ab');
});

test('blanks, line ends and signs of all scripts stay', () => {
  const text = 'a\tb\r\nc\fd\u00a0é 語 😀 e\u0301';
  expect(cleanText(text)).toBe(text);
  expect(cleanText('\ufeffa\ufeff\ud83d\0')).toBe('a\ufeff\ufffd');
});
