import { describe, expect, test } from '@jest/globals';
import { analyzeQuery, analyzeText } from '../../../src/shared/text/list-terms.js';
import { asideTerm, hashTerm, isAside } from '../../../src/shared/text/hash-term.js';
import { processorTimeOf } from '../../support/processor-time.js';

function termsOf(text: string): number[] {
  return [...analyzeText(text).counts.keys()].filter((term) => !isAside(term)).sort((a, b) => a - b);
}

/** Tells whether a query holds a term that only a text with the same word has. */
function finds(query: string, text: string): boolean {
  const { counts } = analyzeText(text);
  return [...analyzeQuery(query).counts.keys()].some((term) => counts.has(term));
}

function expectSame(one: string, other: string): void {
  expect(termsOf(one).length).toBeGreaterThan(0);
  expect(termsOf(one)).toEqual(termsOf(other));
}

describe('terms of a text', () => {
  test('are the same for forms, cases and widths of a word', () => {
    expectSame('Retrieving retrieved', 'ＲＥＴＲＩＥＶＥ retrieve');
    expectSame('ﬁle', 'files');
    expectSame('the patient’s vitamin', "patients' vitamins");
    expectSame('Regierungen', 'Regierungs');
  });

  test('leave English stop words and contractions out', () => {
    expect(analyzeText("It isn't what we've been doing, and that can't be it").length).toBe(0);
  });

  test('are stop words only in a query of nothing else', () => {
    expect(analyzeQuery('to be or not to be').counts).toEqual(
      new Map([
        [asideTerm('to'), 2],
        [asideTerm('be'), 2],
        [asideTerm('or'), 1],
        [asideTerm('not'), 1],
      ]),
    );
    expect([...analyzeQuery('the wolf').counts.keys()]).toEqual([hashTerm('wolf')]);
  });

  test('are stop words in capitals where these stand out', () => {
    const capitals = hashTerm('IT');
    expect(analyzeText('The IT budget grew').counts.has(capitals)).toBe(true);
    expect(analyzeQuery('IT budget').counts.has(capitals)).toBe(true);
    expect(analyzeText('Take it. It is late.').counts.has(capitals)).toBe(false);
    expect(analyzeText('WHETHER IT IS TRUE').counts.has(capitals)).toBe(false);
    expect(analyzeQuery('vitamin A').counts.has(hashTerm('A'))).toBe(true);
    expect(analyzeText('Vitamin A helps. A cat sleeps.').counts.get(hashTerm('A'))).toBe(1);
    expect(analyzeText('now I go').counts.has(hashTerm('I'))).toBe(false);
  });

  test('are counted with their repetitions', () => {
    const { length, counts } = analyzeText('wolf, wolves and a wolf: 42 of the sheep');
    expect(length).toBe(5);
    expect(counts.get(hashTerm('wolf'))).toBe(2);
    expect(counts.get(hashTerm('42'))).toBe(1);
  });

  test('forgive accents, but in Vietnamese, where they tell words apart', () => {
    expectSame('información über Größenverhältnisse', 'informacion uber Grossenverhaltnisse');
    expectSame('José, café', 'Jose, cafe');
    const wanted = analyzeQuery('được má').counts;
    expect([...wanted.keys()].filter((term) => analyzeText('một con ma').counts.has(term))).toEqual([]);
    expect(finds('pho', 'phở bò')).toBe(true);
    expect(finds('phở', 'phở bò')).toBe(true);
  });

  test('tell đ from d where they tell accents apart, and not elsewhere', () => {
    const drug = analyzeQuery('dược').counts;
    expect([...drug.keys()].filter((term) => analyzeText('đã được').counts.has(term))).toEqual([]);
    expect(finds('đường', 'đường phố')).toBe(true);
    expect(finds('duong', 'đường phố')).toBe(true);
    expectSame('đak', 'dak');
  });

  test('take both places of a tone of Vietnamese for the same', () => {
    expectSame('hoà thuận, thuỷ điện', 'hòa thuận, thủy điện');
    expectSame('khoẻ mạnh', 'khỏe mạnh');
    expect(termsOf('hòa thuận')).not.toEqual(termsOf('hóa thuận'));
  });

  test.each([
    ['soft hyphens', 'Sil\u00adben\u00adtren\u00adnung', 'Silbentrennung'],
    ['zero-width spaces', 'data\u200bbase', 'database'],
    ['joiners', 'con\u2060tract in\ufeffvoice', 'contract invoice'],
    ['variation selectors', '神\u{e0100}社', '神社'],
    ['direction marks', '\u2067pri\u200ece\u2069', 'price'],
    ['Hangul fillers', '물\u3164 한\uffa0국', '물 한국'],
    ['Indic joiners', 'क्\u200dष', 'क्ष'],
    ['grapheme joiners and tags', 'to\u034fken\u{e0061}', 'token'],
  ])('do not know of %s', (_name, text, plain) => {
    expectSame(text, plain);
    expect([...analyzeQuery(text).counts.keys()]).toEqual([...analyzeQuery(plain).counts.keys()]);
  });

  test.each([
    ['Greek capitals and old accents', 'ΟΔΟΣ ᾿Αθῆναι', 'οδός αθηναι'],
    ['ё and е', 'ёлка', 'елка'],
    ['Russian of before 1918', 'міръ исторія вѣра', 'мир история вера'],
    ['stressed letters', 'за\u0301мок', 'замок'],
    ['Ukrainian apostrophes', 'м’ята об\u02bcєкт', "мята об'єкт"],
    ['Turkish capitals', 'İSTANBUL DİYAR ısı', 'istanbul diyar isi'],
    ['ß and ss', 'GRÖSSE FÜẞE Straße', 'größe füße strasse'],
    ['points of Hebrew', 'שָׁלוֹם צה״ל', 'שלום צהל'],
    ['Arabic and Persian letters', 'علی کتاب خانۀ', 'علي كتاب خانه'],
    ['digits', '٢٠٢٤ ۱۹ २०२४', '2024 19 2024'],
    ['full and half width', 'ＡＢＣ ｶﾞｲﾄﾞ', 'abc ガイド'],
    ['Nordic and other letters', 'smørrebrød Þór đak', 'smorrebrod thor dak'],
    ['Catalan', 'col·lecció', 'collecció'],
    ['lowered digits', 'H₂O', 'H2O'],
    ['raised digits', 'treaty¹ 10⁶ 10⁻⁶', 'treaty 1 10 6 10 6'],
    ['trade marks', 'Zebra™', 'zebra'],
    ['nasals of Hindi', 'हिन्दी सम्बन्ध अण्डा गङ्गा पञ्चांग चाँद ज़रूर', 'हिंदी संबंध अंडा गंगा पंचांग चांद जरूर'],
    ['the ring and the tone of Thai', 'น\u0e4d\u0e49\u0e32', 'น\u0e49\u0e33'],
  ])('are the same for %s', (_name, one, other) => {
    expectSame(one, other);
  });

  test.each([
    ['avion', "l'avion"],
    ['avion', 'l’avion'],
    ['m2', '20 m²'],
    ['🎉', 'party 🎉🏽 on'],
    ['🇫🇷', 'in 🇫🇷 now'],
    ['1000', 'costs 1,000 dollars'],
    ['1,000', 'costs 1000 dollars'],
    ['1.000,50', 'costs 1,000.50'],
    ['1000', 'kostet 1\u00a0000 Euro'],
    ['1234567', '12,34,567 rupees'],
    ['email', 'an e-mail'],
    ['e-mail', 'an email'],
    ['COVID19', 'the COVID-19 cases'],
    ['wifi', 'free Wi-Fi'],
    ['wellknown', 'a well-known fact'],
    ['USA', 'in the U.S.A. today'],
    ['maxRetryCount', 'max_retry_count'],
    ['کتاب', 'کتاب\u200cها'],
    ['میروم', 'می\u200cروم'],
    ['茶', '我喜欢喝茶'],
    ['물', '나는 물을 마신다'],
    ['ก', 'ภาษากลาง'],
    ['the who', 'The Who play'],
    ['IT', 'the IT department'],
    ["isn't", "It isn't so"],
  ])('are found by %s', (query, text) => {
    expect(finds(query, text)).toBe(true);
  });

  test('name what signs belong to, beside the word', () => {
    for (const [name, others] of [
      ['C++', ['C', 'C#']],
      ['C#', ['C', 'C++']],
      ['.NET', ['net']],
      ['i18n.ts', ['i18n', 'ts']],
      ['4.2.1', ['4.1.2', '1.2.4']],
      ['v2.10.3', ['v2.3.10']],
      ['§ 12', ['12 of 20', '§ 3 Abs. 12']],
      ['Art. 6 Abs. 1', ['Art. 1 Abs. 6']],
      ['article 6, paragraph 1', ['article 1, paragraph 6']],
      ['Section 12', ['12 of the section', 'section 4, 12 pages']],
      ['Bd. 3', ['3. Bd. 12']],
      ['192.168.0.1', ['192.168.1.0']],
      ['2024-01-15', ['2024-15-01']],
      ['10:30', ['30:10']],
    ] as const) {
      const own = analyzeQuery(name).counts;
      expect([...own.keys()].every((term) => analyzeText(`see ${name} here`).counts.has(term))).toBe(true);
      for (const other of others) {
        const { counts } = analyzeText(`see ${other} here`);
        expect([...own.keys()].every((term) => counts.has(term))).toBe(false);
      }
    }
    expect(finds('2.10.3', 'since v2.10.3')).toBe(true);
  });

  test('are overlapping pairs in scripts without spaces', () => {
    expect(termsOf('黑豹队')).toEqual([hashTerm('黑豹'), hashTerm('豹队')].sort((a, b) => a - b));
    expect(analyzeText('ประเทศไทย').length).toBe(8);
    expect(analyzeText('猫').counts.get(asideTerm('猫'))).toBe(1);
    expect([...analyzeQuery('黑豹').counts.keys()]).toEqual([hashTerm('黑豹')]);
    expect(termsOf('GPU显卡')).toEqual([hashTerm('gpu'), hashTerm('显卡')].sort((a, b) => a - b));
  });

  test('forgive points, spellings of a letter and the article in Arabic', () => {
    expectSame('المَدْرَسَة', 'مدرسه');
    expectSame('والكتاب', 'كتاب');
  });

  test('name an identifier by its whole and by its parts', () => {
    const terms = analyzeText('parseHttpHeader').counts;
    for (const part of ['pars', 'http', 'header', 'parsehttp']) expect(terms.has(hashTerm(part))).toBe(true);
    expect(finds('parse', 'parse_http_header')).toBe(true);
  });

  test('find names of genes and the like by a part of three letters, which their queries do not ask for', () => {
    for (const [part, name] of [
      ['RNA', 'mRNA'],
      ['clp', 'clpC'],
      ['Nvs', 'LNvs'],
    ] as const) {
      expect(finds(part, name)).toBe(true);
      expect(analyzeQuery(name).counts.size).toBe(1);
      expect(analyzeText(name).length).toBe(1);
    }
    expect(finds('getUrl', 'Url')).toBe(true);
    expect(finds('isValid', 'valid')).toBe(true);
  });

  test('keep every digit of numbers and codes', () => {
    expect(termsOf('1234567890123')).not.toEqual(termsOf('1234567890124'));
    expect(termsOf('ab12cd34ef56a')).not.toEqual(termsOf('ab12cd34ef56b'));
  });

  test.each([
    ['one letter', 'a'.repeat(1_000_000)],
    ['combining marks', `a${'\u0316\u0301'.repeat(500_000)}`],
    ['apostrophes', "a'".repeat(500_000)],
    ['capitals', 'aB'.repeat(500_000)],
    ['joined letters', 'a-'.repeat(500_000)],
    ['full stops', '.a'.repeat(500_000)],
    ['raised digits', 'a¹'.repeat(300_000)],
    ['apostrophes between letters of Cyrillic', 'м’'.repeat(300_000)],
    ['Greek marks', `α${'\u0313\u0301'.repeat(300_000)}`],
    ['digits of other scripts', '٣'.repeat(500_000)],
    ['groups of digits', '1,000'.repeat(200_000)],
    ['Han', '漢字'.repeat(250_000)],
    ['expanding ligatures', '\ufdfa'.repeat(100_000)],
    ['words that nearly have endings', `${'y'.repeat(38)}ed `.repeat(20_000)],
    ['vowels and consonants', `${'ab'.repeat(19)}x `.repeat(20_000)],
  ])('are found in time linear in a long run of %s', async (_name, text) => {
    // Up to a second; what grows with the square of a million characters takes many minutes.
    expect(await processorTimeOf(() => analyzeText(text))).toBeLessThan(20_000);
  });
});

test('an acronym in small letters with dots is asked for by its letters alone, and one in capitals also as a whole', () => {
  const asks = (query: string, term: string): boolean => analyzeQuery(query).counts.has(hashTerm(term));
  expect(asks('U.S.A.', 'usa')).toBe(true);
  expect(asks('e.g. walruses', 'eg')).toBe(false);
  expect(asks('well-known', 'wellknown')).toBe(false);
});
