import { expect, test } from '@jest/globals';
import { parseDocx } from '../../../../src/readers/formats/ooxml/docx.js';
import { officePackage, root, type Relation } from '../../../support/office-packages.js';
import { readBlocks } from '../../../support/read-blocks.js';

const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
const chunk = (id: string): string => `<w:altChunk r:id="${id}"/>`;

/** A Word file with imported documents by their names. */
function word(body: string, imports: Readonly<Record<string, string | Uint8Array>> = {}): Uint8Array {
  const names = Object.keys(imports);
  return officePackage({
    parts: {
      'word/document.xml': root('w:document', `<w:body>${body}</w:body>`),
      ...Object.fromEntries(Object.entries(imports).map(([name, content]) => [`word/${name}`, content])),
    },
    relations: {
      '': [['rId1', 'officeDocument', 'word/document.xml']],
      'word/document.xml': names.map((name): Relation => [name, 'aFChunk', `/word/${name}`]),
    },
  });
}

const HTML =
  '<html><body><h2>Within</h2><p>imported words</p><p style="display:none">unseen</p></body></html>';
const ARCHIVE = `MIME-Version: 1.0\r\nContent-Type: multipart/related; type="text/html"; boundary="b"\r\n\r\n--b\r\nContent-Type: text/html; charset="utf-8"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<html><body><p>imported=20words</p></body></html>\r\n--b--\r\n`;

test.each([
  ['a.htm', HTML],
  ['a.txt', 'imported words'],
  ['a.rtf', '{\\rtf1\\ansi imported words\\par}'],
  ['a.mht', ARCHIVE],
  ['a.docx', word(paragraph('imported words'))],
])('an imported document %s is read in its place', async (name, content) => {
  const bytes = word(paragraph('before') + chunk(name) + paragraph('after'), { [name]: content });
  const { text, blocks, receipt } = await readBlocks(parseDocx, bytes);
  expect(text.replace('Within\n\n', '')).toBe('before\n\nimported words\n\nafter\n\n');
  expect(receipt).toMatchObject({ parser: 'ooxml', title: null });
  if (name !== 'a.htm') return;
  expect(blocks.find(({ heading }) => heading === 2)?.text).toBe('Within\n\n');
  expect(receipt.gap_counts).toEqual({ hidden: 1 });
  expect((await readBlocks(parseDocx, bytes, { hiddenText: 'keep' })).text).toContain('unseen');
});

test('an import of an import, a missing one and one of another type are named and not read', async () => {
  const inner = word(paragraph('inner') + chunk('b.txt'), { 'b.txt': 'innermost' });
  const body = paragraph('text') + chunk('a.docx') + chunk('missing') + chunk('a.png');
  const { text, gaps } = await readBlocks(parseDocx, word(body, { 'a.docx': inner, 'a.png': 'PNG' }));
  expect(text).toBe('text\n\ninner\n\n');
  expect(gaps).toEqual([
    'skipped: 1 imported document was left out.',
    'skipped: 2 imported documents were left out.',
  ]);
});

test('a damaged import does not keep the document from being read', async () => {
  const whole = word(paragraph('inner'));
  const bytes = word(paragraph('text') + chunk('a.docx'), { 'a.docx': whole.subarray(0, whole.length / 2) });
  const { text, gaps } = await readBlocks(parseDocx, bytes);
  expect(text).toBe('text\n\n');
  expect(gaps).toEqual(['unreadable: An imported document: The Word file is damaged.']);
});

test('imports are read up to a number and a size, each once', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [`${String(index)}.txt`, `number ${String(index)};`]),
  );
  const body = Object.keys(many).map(chunk).join('') + chunk('0.txt');
  const { text, gaps } = await readBlocks(parseDocx, word(body, many));
  expect(text.match(/number/g)).toHaveLength(50);
  expect(gaps).toEqual(['skipped: 11 imported documents were left out.']);
  const large = await readBlocks(
    parseDocx,
    word(chunk('a.txt') + chunk('b.txt'), { 'a.txt': 'x\n\n'.repeat(5_600_000), 'b.txt': 'short' }),
  );
  expect(large.text).toBe('short\n\n');
});
