import { describe, expect, test } from '@jest/globals';
import iconv from 'iconv-lite';
import { decodeAs } from '../../../src/readers/encoding/decode-as.js';
import { encodingOf, encodingOfCodePage } from '../../../src/readers/encoding/labels.js';
import { readBlocks } from '../../support/read-blocks.js';

const html = (charset: string, text: string, encoding: string): Buffer =>
  iconv.encode(`<html><head><meta charset="${charset}"></head><body><p>${text}</p></body></html>`, encoding);

describe('a charset', () => {
  test('means what browsers take it for', () => {
    const meant: Readonly<Record<string, string>> = {
      'iso-8859-1': 'windows-1252',
      'us-ascii': 'windows-1252',
      latin1: 'windows-1252',
      'iso-8859-9': 'windows-1254',
      gb2312: 'gb18030',
      shift_jis: 'shiftjis',
      'windows-31j': 'shiftjis',
      'ks_c_5601-1987': 'cp949',
      'iso-8859-8-i': 'iso-8859-8',
      'tis-620': 'windows-874',
      'x-mac-cyrillic': 'macukraine',
    };
    for (const [label, encoding] of Object.entries(meant))
      expect([label, encodingOf(label)]).toEqual([label, encoding]);
  });

  test('is known in the spellings that programs have for it, and no other word is one', () => {
    const spelled = [
      'utf8',
      ' UTF-8; ',
      '"utf-8"',
      'cp-1252',
      'Windows_1251',
      'x-cp932',
      'ISO8859_15',
      'unicode-1-1-utf-7',
      'cp850',
      'IBM437',
    ];
    expect(spelled.map(encodingOf)).toEqual([
      'utf-8',
      'utf-8',
      'utf-8',
      'windows-1252',
      'windows-1251',
      'shiftjis',
      'iso-8859-15',
      'utf-7',
      'cp850',
      'cp437',
    ]);
    for (const label of ['x-unknown', 'default', '', 'base64', 'hex', 'binary', 'x-user-defined', '8bit'])
      expect(encodingOf(label)).toBeUndefined();
    expect([1251, 65_001, 50_220, 20_866, 99_999].map(encodingOfCodePage)).toEqual([
      'windows-1251',
      'utf-8',
      'iso-2022-jp',
      'koi8-r',
      undefined,
    ]);
  });

  test('of HTML is believed, with the signs of windows-1252 where it says ISO 8859-1', async () => {
    const smart = '“Preis” – 50 €, isn’t it…';
    for (const charset of ['iso-8859-1', 'us-ascii', 'latin1', 'windows-1252'])
      expect((await readBlocks('html', html(charset, smart, 'windows-1252'))).text).toContain(smart);
    expect((await readBlocks('html', html('iso-8859-9', 'İstanbul’da', 'windows-1254'))).text).toContain(
      'İstanbul’da',
    );
    expect((await readBlocks('html', html('gb2312', '朱镕基', 'gb18030'))).text).toContain('朱镕基');
    expect((await readBlocks('html', html('ks_c_5601-1987', '똠방각하', 'cp949'))).text).toContain(
      '똠방각하',
    );
    expect((await readBlocks('html', html('macintosh', 'Größe 5', 'macintosh'))).text).toContain('Größe 5');
    const jis = Buffer.from('<meta charset=iso-2022-jp><p>\u001b$B2q5D\u001b(B</p>', 'latin1');
    expect((await readBlocks('html', jis)).text).toContain('会議');
  });

  test('that is wrong or unknown gives way to UTF-8, and then to what the bytes say', async () => {
    for (const charset of ['x-unknown', 'iso-8859-1', 'gb2312', 'utf-16'])
      expect((await readBlocks('html', html(charset, 'Grüße aus Łódź', 'utf-8'))).text).toContain(
        'Grüße aus Łódź',
      );
    const russian = 'Вчера вечером мы долго гуляли по набережной';
    for (const charset of ['default', 'utf-8'])
      expect((await readBlocks('html', html(charset, russian, 'koi8-r'))).text).toContain(russian);
  });

  test('of XML may be one that is written in ASCII', async () => {
    const xml = Buffer.from(
      '<?xml version="1.0" encoding="iso-2022-jp"?><a><b>\u001b$B2q5D\u001b(B</b></a>',
      'latin1',
    );
    expect((await readBlocks('xml', xml)).text).toContain('会議');
  });

  test('has the euro where Apple has put it, in XML as elsewhere', async () => {
    const price = Buffer.from('<?xml version="1.0" encoding="macintosh"?><a>5 \u00db</a>', 'latin1');
    expect((await readBlocks('xml', price)).text).toContain('5 €');
    const page = Buffer.from('<meta charset=macintosh><p>5 \u00db</p>', 'latin1');
    expect((await readBlocks('html', page)).text).toContain('5 €');
  });
});

test('words of two bytes a letter keep their letters and blanks, however many there are', () => {
  // Letters of both sides of where the decoder passes on what it has gathered; JIS has hiragana from 24 21 on.
  const words = Array.from({ length: 60_000 }, (_, i) => ['$"', '$+$5', '$?$J$O'][i % 3] ?? '');
  const letters = Array.from({ length: 60_000 }, (_, i) => ['あ', 'かさ', 'たなは'][i % 3] ?? '');
  const bytes = Buffer.from(`\x1b$B${words.join(' ')}\x1b(B.`, 'latin1');
  expect(decodeAs(bytes, 'iso-2022-jp')).toBe(`${letters.join(' ')}.`);
});
