import { expect, test } from '@jest/globals';
import { formatDate } from '../../../../../src/workers/parse/formats/ooxml/sheets/date-format.js';
import { parseFormatCode } from '../../../../../src/workers/parse/formats/ooxml/sheets/format-code.js';

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
