import { expect, test } from '@jest/globals';
import { cell, file, sheet } from '../../../support/open-document-looks.js';
import { readBlocks } from '../../../support/read-blocks.js';

test('a number whose format shows nothing is hidden, but not a zero, nor one without a text', async () => {
  const number = (value: string, content = '<text:p/>'): string =>
    `<table:table-cell office:value-type="float" office:value="${value}">${content}</table:table-cell>`;
  const body = sheet(number('31337') + number('0') + number('42', '') + cell('b'));
  const { text, gaps } = await readBlocks('ods', file('ods', { body }));
  expect(text).toContain('|  |  | 42 | b |');
  expect(gaps).toEqual(['hidden: 5 characters hidden by their number format were left out.']);
  expect((await readBlocks('ods', file('ods', { body }), { hiddenText: 'keep' })).text).toContain('31337');
});
