import { expect, test } from '@jest/globals';
import { formatDate } from '../../../../src/readers/formats/ooxml/sheets/date-format.js';
import { createNumberFormat } from '../../../../src/readers/formats/ooxml/sheets/number-format.js';
import { parseFormatCode } from '../../../../src/readers/formats/ooxml/sheets/format-code.js';

/** The number of 15 March 2024, a Friday. */
const DAY = 45_366;

test.each([
  ['[$-407]d. mmmm yyyy', '15. März 2024'],
  ['[$-de-DE]dddd, d. mmmm yyyy', 'Freitag, 15. März 2024'],
  ['[$-40C]d mmmm yyyy;@', '15 mars 2024'],
  ['[$-fr-FR]ddd d mmm', 'ven. 15 mars'],
  ['[$-FC19]d mmmm yyyy', '15 марта 2024'],
  ['[$-419]mmmm yyyy', 'март 2024'],
  ['[$-415]mmmm', 'marzec'],
  ['[$-1010411]mmmm', '3月'],
  ['[$-F800]d mmmm', '15 March'],
  ['[$-xx-XX]mmmm', 'March'],
  ['[$-0]mmmmm', 'M'],
])('names months and days in the language of the format %s', (code, shown) => {
  const [section] = parseFormatCode(code);
  expect(formatDate(DAY, section?.tokens ?? [], { is1904: false })).toBe(shown);
});

test.each([
  ['[$-411]ggge"年"m"月"d"日"', '令和6年3月15日'],
  ['[$-ja-JP-x-gannen,80]ggge"年"', '令和6年'],
  ['[$-411]ge.m.d', 'R6.3.15'],
  ['ggee"年"m"月"', '令06年3月'],
  ['[$-404]e/mm/dd', '113/03/15'],
  ['[$-404]ggge"年"', '民國113年'],
  ['[$-107041E]d mmmm yyyy', '15 มีนาคม 2567'],
  ['[$-101041E]d mmmm yyyy', '15 มีนาคม 2024'],
  ['[$-409]e-mm-dd', '2024-03-15'],
])('counts years by the calendar of the format %s', (code, shown) => {
  const [section] = parseFormatCode(code);
  expect(formatDate(DAY, section?.tokens ?? [], { is1904: false })).toBe(shown);
});

test.each([
  ['"pre "@', 'pre x'],
  ['@" GmbH"', 'x GmbH'],
  ['0;-0;0;"<"@">"', '<x>'],
  ['0.00', 'x'],
])('shows texts by the section for them of the format %s', (code, shown) => {
  expect(createNumberFormat(code, { is1904: false }).text('x')).toBe(shown);
});

test('takes letters of eras beside numbers for what they are', () => {
  expect(createNumberFormat('0 g', { is1904: false }).number(5)).toBe('5 g');
  expect(createNumberFormat('0.0E+00', { is1904: false }).number(1500)).toBe('1.5E+03');
});
