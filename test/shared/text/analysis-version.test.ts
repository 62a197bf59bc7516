import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { searchedTerms } from '../../../src/shared/chunks/searched-text.js';
import { ANALYSIS_VERSION } from '../../../src/shared/text/analysis/version.js';
import { listQueryTerms, listTerms } from '../../../src/shared/text/list-terms.js';

/** Something of each kind that the analysis treats in its own way. */
const TEXTS = [
  'To be or not to be: The Who, IT and WHO don’t run parseHttpHeader() in mRNA.',
  'Running runners ran; universities’ policies, well-known e-mail and wi-fi, COVID-19 and e.g. U.S.A.',
  'C++, C#, .NET, F#, i18n.ts, v4.2.1, § 12 Abs. 3, 192.168.0.1, 1,000.50 or 1.000,50 and 2024-05-06.',
  'Straße STRASSE, cafe\u0301 café Łódź Ærø, so\u00adft hy\u200bphens, treaty¹ 10⁶ m² H₂O ™ 5\u00a0000.',
  'ΑΘΗΝΑ Αθήνα, ёлка елка, міръ вѣра, м’ята, İstanbul ısı, שָׁלוֹם צה״ל, الكتاب كتابٌ می\u200cروم ۱۲۳, हिन्दी.',
  '日本語の文章 カタカナ ﾊﾝｶｸ 漢 한국어 한 ภาษาไทย Tiếng Việt đường hoà 🦭🏽 🇩🇪, clpC siRNA.',
];

test('whoever changes the terms of a text raises the version, so that data is made anew', () => {
  const hash = createHash('sha256');
  for (const text of TEXTS)
    for (const { terms, counts, length } of [listTerms(text), listQueryTerms(text)])
      hash.update(JSON.stringify([[...terms], [...counts], length]));
  const chunk = { text: 'Hay costs twelve a bale.', tokenCount: 8, section: ['Prices', '2024'] };
  const naming = { title: 'Zebra budget', filename: 'zebra_report2024.txt' };
  hash.update(searchedTerms(chunk, naming));
  const digests: Readonly<Record<string, string>> = {
    2: '50cbc88607456567',
  };
  expect(digests[ANALYSIS_VERSION]).toBe(hash.digest('hex').slice(0, 16));
});
