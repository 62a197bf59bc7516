import { deflateRawSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { detectFileType } from '../../../src/readers/detection/detect.js';

const NAMES = ['a.txt', 'a.md', 'a.csv', 'a.json', 'a.py', 'a', null];
const formatsOf = (bytes: Uint8Array) =>
  NAMES.map((name) => detectFileType(bytes.subarray(0, 65_536), name, null)?.format ?? null);
const isRefused = (bytes: Uint8Array): boolean => formatsOf(bytes).every((format) => format === null);
const isAccepted = (bytes: Uint8Array): boolean => formatsOf(bytes).every((format) => format !== null);

const of = (...parts: (string | readonly number[] | Uint8Array)[]): Buffer =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  );
const number = (value: number): readonly number[] => [
  value & 255,
  (value >> 8) & 255,
  (value >> 16) & 255,
  value >>> 24,
];
const fill = (value: number, length: number): Uint8Array => new Uint8Array(length).fill(value);

const wavOf8Bits = (samples: Uint8Array): Uint8Array =>
  of(
    'RIFF',
    number(60_036),
    'WAVEfmt ',
    number(16),
    [1, 0, 1, 0],
    number(8_000),
    number(8_000),
    [1, 0, 8, 0],
    'data',
    number(60_000),
    samples,
  );

/** Sound of 16 bits, as loud as `most`. */
const sound = (most: number, count = 8_000): Uint8Array =>
  new Uint8Array(
    Int16Array.from({ length: count }, (_, index) => Math.round(most * Math.sin(index / 9))).buffer,
  );
/** Sound of a byte each, as loud as has no controls. Of its bytes alone nobody can tell that they are no letters. */
const LOUD = Uint8Array.from({ length: 60_000 }, (_, index) => Math.round(128 + 90 * Math.sin(index / 9)));
const WORDS = 'The wheel turns. '.repeat(600);
const OTHERS: Readonly<Record<string, Uint8Array>> = {
  zeros: fill(0, 5_000),
  'bells alone': fill(7, 70_000),
  white: fill(0xff, 60_000),
  'light pixels of three bytes': of(
    fill(0xf0, 30_000),
    [0xf1, 0xf2, 0xf3, 0xf1, 0xf2, 0xf3],
    fill(0xee, 900),
  ),
  'light pixels of three unlike bytes': of(...Array.from({ length: 600 }, () => [0xf1, 0xe2, 0xd3])),
  'light pixels of four unlike bytes': of(...Array.from({ length: 600 }, () => [0xf1, 0xe2, 0xd3, 0xff])),
  'light pixels of which some differ': Uint8Array.from({ length: 3_000 }, (_, index) =>
    index % 5 < 3 ? 0xf0 : 0xe0 + ((index * 7) % 13),
  ),
  'sound with cracks': LOUD.map((byte, index) => (index % 20 === 0 ? 0x7f : byte)),
  icon: of([0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0], number(1_064), number(22), fill(0xff, 1_064)),
  'wav, quiet': of(
    'RIFF',
    number(16_036),
    'WAVEfmt ',
    number(16),
    [1, 0, 1, 0],
    number(8_000),
    number(16_000),
    [2, 0, 16, 0],
    'data',
    number(16_000),
    sound(90),
  ),
  'wav of 8 bits': wavOf8Bits(fill(0x80, 60_000)),
  'wav of 8 bits, loud': wavOf8Bits(LOUD),
  'loud sound behind a table of small numbers': of(
    [1, 2, 3, 4, 5, 6, 14].flatMap((each) => [each, each, each]),
    LOUD,
  ),
  'sound without a header': sound(9_000),
  'quiet sound without a header': sound(90),
  mp3: of(
    'ID3',
    [4, 0, 0, 0, 0, 0, 35],
    'TSSE',
    [0, 0, 0, 15, 0, 0, 3],
    'Lavf58',
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [0xff, 0xfb, 0x50, 0xc0],
    'U'.repeat(3_000),
  ),
  mp4: of(
    [0, 0, 0, 32],
    'ftypisom',
    [0, 0, 2, 0],
    'isomiso2avc1mp41',
    [0, 0, 0, 8],
    'free',
    [0, 0, 9, 0x9c],
    'mdat',
    deflateRawSync(Buffer.from(WORDS)),
  ),
  'class of Java': of(
    [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 29, 10, 0, 6, 0, 15, 9, 0],
    'java/lang/Object',
    [1, 0, 3],
    '()V',
    [1, 0, 4],
    'Code',
  ),
  program: of(
    [0x7f],
    'ELF',
    [2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0x3e, 0, 1, 0, 0, 0],
    fill(0x90, 4_000),
  ),
  'program of Windows': of(
    'MZ',
    [0x90, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0xff, 0xff, 0, 0, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0x40, 0],
    WORDS,
  ),
  sqlite: of(
    'SQLite format 3\0',
    [16, 0, 1, 1, 0, 64, 32, 32, 0, 0, 0, 2, 0, 0, 0, 2],
    fill(0, 4_000),
    'CREATE TABLE a',
  ),
  gzip: gzipSync('short'),
  'gzip of words': gzipSync(WORDS),
  font: of('wOFF', [0, 1, 0, 0, 0, 0, 0x50, 0xd0, 0, 16, 0, 0], deflateRawSync(Buffer.from(WORDS))),
  'object of Java': of(
    [0xac, 0xed, 0, 5, 0x73, 0x72, 0, 17],
    'java.lang.Integer',
    [0x12, 0xe2, 0xa0, 0xa4, 0xf7, 0x81, 0x87, 0x38, 2, 0, 1],
  ),
  tar: of(
    'mill.txt',
    fill(0, 92),
    '0000644\0',
    '0001750\0',
    '0001750\0',
    '00000001000\0',
    '14500000000\0',
    '011000\0 0',
    fill(0, 100),
    'ustar  \0',
    fill(0, 247),
    WORDS,
  ),
  pickle: of(
    [0x80, 4, 0x95, 20, 0, 0, 0, 0, 0, 0, 0, 0x7d, 0x94, 0x8c, 4],
    'mill',
    [0x94, 0x4b, 7, 0x73, 0x2e],
  ),
  'pickle of protocol 2': of([0x80, 2, 0x5d, 0x71, 0, 0x28, 0x4b, 1, 0x4b, 2, 0x65, 0x2e]),
  'floating numbers': new Uint8Array(
    Float64Array.from({ length: 900 }, (_, index) => Math.sqrt(index + 0.3)).buffer,
  ),
  'random behind a mark of UTF-16': of(
    [0xff, 0xfe],
    deflateRawSync(Buffer.from(Array.from({ length: 900 }, (_, index) => String(index * index)).join())),
  ),
};

const RUSSIAN = 'Мельница стоит у реки, и её колесо вертится весь день.\r\n';
const JAPANESE = '水車は川のそばにあり、一日中まわっています。テスト。\n';
const CHINESE = '水车在河边，轮子整天都在转动。\n';
const KOREAN = '물레방아는 강가에 있고 바퀴는 하루 종일 돕니다.\n';
const THAI = 'กังหันน้ำอยู่ริมแม่น้ำและหมุนทั้งวัน\n';
const ARABIC = 'الطاحونة بجانب النهر وعجلتها تدور طوال اليوم\n';
const GREEK = 'Ο μύλος είναι δίπλα στο ποτάμι.\n';
const FRENCH = 'Le moulin est près de la rivière, et sa roue tourne toute la journée : voilà.\n';
const LEGACY: readonly (readonly [string, string])[] = [
  ...['windows-1251', 'koi8-r', 'cp866', 'iso-8859-5', 'utf-16le', 'utf-16be', 'utf-32le'].map(
    (name) => [name, RUSSIAN] as const,
  ),
  ...['shift_jis', 'euc-jp', 'utf-16le', 'utf-16be'].map((name) => [name, JAPANESE] as const),
  ...['gb18030', 'utf-16le', 'utf-16be', 'utf-8'].map((name) => [name, CHINESE] as const),
  ...['cp949', 'utf-16le', 'utf-16be'].map((name) => [name, KOREAN] as const),
  ...['windows-874', 'utf-16le', 'utf-16be'].map((name) => [name, THAI] as const),
  ...['windows-1256', 'iso-8859-6', 'utf-16le', 'utf-16be'].map((name) => [name, ARABIC] as const),
  ...['windows-1253', 'utf-16le'].map((name) => [name, GREEK] as const),
  ...['windows-1252', 'macintosh', 'cp850', 'utf-16le'].map((name) => [name, FRENCH] as const),
];
const ESCAPE = '\u001b';
const TEXTS: Readonly<Record<string, Uint8Array>> = {
  'one letter': of('a'),
  'one letter above ASCII': of([0xe9]),
  'one letter again and again': of('a'.repeat(50_000)),
  'one letter of windows-1252 again and again': fill(0xe9, 50_000),
  'colours of a terminal': of(`${ESCAPE}[31mred${ESCAPE}[0m\r\n`.repeat(90)),
  'letters struck over': of('N\bNA\bAM\bME\bE\n'.repeat(50)),
  'a long one with stray zeros at its beginning': of(
    'Grüße\0'.repeat(8),
    'Die Mühle steht am Fluß. '.repeat(2_000),
  ),
  'a long one with stray controls at its beginning': of(
    'Grüße\u0001'.repeat(20),
    'Die Mühle steht am Fluß. '.repeat(2_000),
  ),
  'form feeds': of('page\n\f'.repeat(50)),
  'padding of zeros': of('a short log\n', fill(0, 4_084)),
  'padding of zeros behind other letters': of('Grüße\n', fill(0, 4_084)),
  'minified code': of(`!function(){${'var a=1;b(a,"x");'.repeat(3_000)}}()`),
  base64: of(gzipSync(WORDS.repeat(50), { level: 0 }).toString('base64')),
  'boxes of old screens': of(`${'\xcd'.repeat(78)}\r\n\xba${' '.repeat(76)}\xba\r\n`.repeat(30)),
  'a name of a format': of('GIF89a and BMP are formats.'),
};

describe('bytes', () => {
  test.each(Object.entries(OTHERS))('that are no text are refused under any name: %s', (_, bytes) => {
    expect(formatsOf(bytes)).toEqual(NAMES.map(() => null));
  });

  test('of any value are refused', () => {
    fc.assert(
      fc.property(
        fc
          .uint8Array({ minLength: 200, maxLength: 5_000, size: 'max' })
          .filter((bytes) => new Set(bytes).size > 60),
        isRefused,
      ),
      { numRuns: 50 },
    );
  });

  test.each(LEGACY)('of text in %s are text: %s', (encoding, text) => {
    const bytes = iconv.encode(text, encoding);
    expect(isAccepted(bytes)).toBe(true);
    expect(isAccepted(bytes.subarray(0, 12))).toBe(true);
    expect(isAccepted(iconv.encode(text.repeat(2_000), encoding).subarray(0, 65_536))).toBe(true);
  });

  test.each(Object.entries(TEXTS))('that are text are accepted: %s', (_, bytes) => {
    expect(isAccepted(bytes)).toBe(true);
  });

  test('of any text in UTF-8 and with a mark in UTF-16 are accepted', () => {
    const letters = fc.stringMatching(/^[ -~À-ɏЀ-џぁ-ゖ一-鿿가-힣]{1,300}$/u);
    fc.assert(
      fc.property(
        letters,
        (text) => isAccepted(Buffer.from(`:${text}`)) && isAccepted(Buffer.from(`\ufeff:${text}`, 'utf16le')),
      ),
    );
  });
});
