import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { lookThrough } from '../../../../src/readers/formats/pdf/judging/page-contents.js';
import { createPageObjects } from '../../../../src/readers/formats/pdf/judging/page-objects.js';
import { drawPdf, FIRST_OBJECT, line, stream } from '../../../support/drawn-pdf.js';

/** The numbers of the first page of a drawing and of its contents; those of the next ones follow. */
const [PAGE, CONTENTS] = [FIRST_OBJECT, FIRST_OBJECT + 1];

const raisedBeside = (text: string, x: number): string =>
  `BT /F1 12 Tf 60 700 Td (${text}) Tj ET BT /F1 7 Tf ${String(x)} 705 Td (2) Tj ET\n`;

const only = (...numbers: number[]): ReadonlySet<number> => new Set(numbers);

describe('What pages of a PDF use', () => {
  const file = Buffer.from(
    [
      '1 0 obj<</Type/Pages/Kids[2 0 R 3 0 R]/Count 2/Resources<</Font<</F 4 0 R>>>>>>endobj',
      '2 0 obj<</Type/Page/Parent 1 0 R/Contents 5 0 R/Annots[8 0 R]>>endobj',
      '3 0 obj<</Type /Page /Parent 1 0 R /Contents [6 0 R] /Resources<</XObject<</X 7 0 R>>>> /B[2 0 R]>>endobj',
      '4 0 obj<</Type/Font/BaseFont/AAAAAA+SymbolMT>>endobj',
      '5 0 obj<</Length 2>>stream\nBT\nendstream endobj',
      '6 0 obj<</Length 2>>stream\nBT\nendstream endobj',
      '7 0 obj<</Type/XObject/Resources<</Font<</G 9 0 R>>>>/Length 2>>stream\nBT\nendstream endobj',
      '8 0 obj<</Subtype/Link>>endobj',
      '9 0 obj<</Type/Font/BaseFont/Wingdings>>endobj',
    ].join('\n'),
  );
  const objects = createPageObjects(file);

  test('is their contents, with forms and fonts, and what nodes above them say, but no other page', () => {
    expect(objects.mayUse(2, { objects: only(5) })).toBe(true);
    expect(objects.mayUse(2, { objects: only(6, 7, 8, 9) })).toBe(false);
    expect(objects.mayUse(3, { objects: only(7) })).toBe(true);
    expect(objects.mayUse(3, { objects: only(5) })).toBe(false);
    for (const page of [2, 3])
      expect(objects.mayUse(page, { objects: only(), names: ['+Symbol'] })).toBe(true);
    expect(objects.mayUse(2, { objects: only(), names: ['Wingdings'] })).toBe(false);
    expect(objects.mayUse(3, { objects: only(), names: ['Wingdings'] })).toBe(true);
  });

  test('may be anything where the page, or what it leads to, is not known', () => {
    expect(objects.mayUse(undefined, { objects: only(1) })).toBe(true);
    expect(objects.mayUse(12, { objects: only(1) })).toBe(true);
    expect(objects.mayUse(2, { objects: 'any' })).toBe(true);
    expect(objects.mayUse(12, { objects: only() })).toBe(false);
    const broken = Buffer.from(file.toString().replace('9 0 obj', '19 0 obj'));
    expect(createPageObjects(broken).mayUse(3, { objects: only(5) })).toBe(true);
    const encrypted = Buffer.concat([file, Buffer.from('<</Encrypt 5 0 R>>')]);
    expect(createPageObjects(encrypted).mayUse(2, { objects: only(6) })).toBe(true);
  });

  test('is found in compressed objects, too', () => {
    const [page, font] = ['<</Type/Page/Contents 5 0 R/Resources 11 0 R>>', '<</F 13 0 R>>'];
    const head = `10 0 11 ${String(page.length)} `;
    const packed = stream(
      `/Type/ObjStm/N 2/First ${String(head.length)}/Filter/FlateDecode`,
      deflateSync(Buffer.from(`${head}${page}${font}`)),
    );
    const symbol = Buffer.from('\nendobj\n13 0 obj<</BaseFont/Wingdings2>>endobj\n');
    const whole = Buffer.concat([file, Buffer.from('\n20 0 obj'), packed, symbol]);
    const found = createPageObjects(whole);
    expect(found.mayUse(10, { objects: only(), names: ['Wingdings'] })).toBe(true);
    expect(found.mayUse(10, { objects: only(6) })).toBe(false);
    expect(found.mayUse(10, { objects: only(5) })).toBe(true);
  });

  test('may be raised text only where small text stands beside larger text on another line', () => {
    const beside = drawPdf({
      pages: [{ content: line(60, 700, 'Words') }, { content: raisedBeside('10', 74) }],
    });
    const { shifting } = lookThrough(beside);
    expect(shifting).toEqual(only(CONTENTS + 2));
    const pages = createPageObjects(beside);
    expect(pages.mayUse(PAGE, { objects: shifting })).toBe(false);
    expect(pages.mayUse(PAGE + 2, { objects: shifting })).toBe(true);
    const far = drawPdf({ pages: [{ content: raisedBeside('Chapter 2', 400) }] });
    expect(lookThrough(far).shifting).toEqual(only());
    // Letters and words that are set apart reach farther.
    const spaced = drawPdf({ pages: [{ content: `5 Tc\n${raisedBeside('Chapter two of', 300)}` }] });
    expect(lookThrough(spaced).shifting).toEqual(only(CONTENTS));
  });

  test('may be raised text in contents that cannot be inflated, and anywhere in encrypted files', () => {
    const damaged = Buffer.concat([
      Buffer.from('5 0 obj'),
      stream('/Filter/FlateDecode', Buffer.from('damaged')),
    ]);
    expect(lookThrough(damaged).shifting).toEqual(only(5));
    expect(lookThrough(Buffer.from('<</Encrypt 5 0 R>>')).shifting).toBe('any');
  });
});
