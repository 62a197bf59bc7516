import { describe, expect, test } from '@jest/globals';
import type { FileFormat } from '../../../src/readers/detection/formats.js';
import { withoutUuencoded } from '../../../src/readers/encoding/uuencoded.js';
import { processorMilliseconds } from '../../support/processor-time.js';
import { readBlocks } from '../../support/read-blocks.js';

const bytes = Uint8Array.from({ length: 1_000 }, (_, at) => (at * 7_919 + (at >> 3)) % 256);

/** Lines of up to 45 bytes, as POSIX describes them; zero is a blank or a grave accent. */
function uuencode(content: Uint8Array, zero = '`'): string {
  const letter = (six: number): string => (six === 0 ? zero : String.fromCharCode(six + 0x20));
  const lines: string[] = [];
  for (let from = 0; from < content.length; from += 45) {
    const piece = content.subarray(from, from + 45);
    let line = letter(piece.length);
    for (let at = 0; at < piece.length; at += 3) {
      const group = ((piece[at] ?? 0) << 16) | ((piece[at + 1] ?? 0) << 8) | (piece[at + 2] ?? 0);
      for (const shift of [18, 12, 6, 0]) line += letter((group >> shift) & 0x3f);
    }
    lines.push(line);
  }
  return [...lines, zero].join('\n');
}
const file = (zero?: string): string => `begin 644 old mill.gif\n${uuencode(bytes, zero)}\nend\n`;
const cleaned = (text: string) => {
  const names: string[] = [];
  return { text: withoutUuencoded(text, ({ name }) => names.push(name)), names };
};

describe('a uuencoded file', () => {
  const mail = (body: string): string => `From: a@example.org\nSubject: Mill\n\n${body}`;
  test.each<readonly [FileFormat, (body: string) => string]>([
    ['text', (body) => body],
    ['eml', mail],
    ['eml', (body) => mail(body).replaceAll('\n', '\r\n')],
    ['markdown', (body) => `# Mill\n\n${body}`],
  ])('in %s is left out and named, and the text around it is kept', async (format, write) => {
    const { text, gaps } = await readBlocks(format, write(`Before it\n\n${file()}\nand after it\n`));
    expect(text).not.toContain(uuencode(bytes).slice(100, 120));
    for (const words of ['Before it', 'and after it']) expect(text).toContain(words);
    expect(text).not.toMatch(/^(?:begin|end|`)/m);
    expect(gaps).toEqual([expect.stringMatching(/skipped.*uuencoded, old mill\.gif, 1 KB long/)]);
  });

  test('is known with blanks for zeros, also where a program has cut them, and in Base64', () => {
    const folded = Buffer.from(bytes).toString('base64').replace(/.{60}/g, '$&\n');
    for (const written of [
      file(' '),
      file(' ').replace(/ +$/gm, ''),
      `begin-base64 755 old mill.gif\n${folded}\n====\n`,
    ]) {
      const { text, names } = cleaned(`Before\n${written}after\n`);
      expect(names).toEqual(['old mill.gif']);
      expect(text.replace(/\n+/g, ' ')).toBe('Before after ');
      expect(text.split('\n').length).toBe(`Before\n${written}after\n`.split('\n').length);
    }
  });

  test('that is cut ends where text goes on', () => {
    const cut = file().split('\n').slice(0, 10).join('\n');
    expect(cleaned(`${cut}\nThe rest of this message was lost.\n`)).toMatchObject({
      text: expect.stringMatching(/^\n+The rest of this message was lost\.\n$/),
      names: ['old mill.gif'],
    });
  });

  // A lone carriage return ended no line, so that the search began anew at the start of the text, and did so for ever.
  test('is known with the line ends of old Macintoshes, also among others', () => {
    const mixed = file().replace(/\n(?=M)/, '\r');
    for (const written of [file().replaceAll('\n', '\r'), mixed])
      expect(cleaned(`end\n${written}after`)).toEqual({
        text: expect.stringMatching(/^end\n+after$/),
        names: ['old mill.gif'],
      });
  });

  test('ends no earlier than it begins', () => {
    const text = `end\nbegin 644 a\n${uuencode(bytes)}\nM\rx\nafter\n`;
    expect(cleaned(text).text).toMatch(/^end\n+M?\r?x\nafter\n$/);
  });

  test('takes time in proportion to the text, also where other signs than line ends end its first lines', () => {
    const times = [200_000, 800_000].map((length) => {
      const text = 'begin 644 a\u2028'.repeat(length / 12);
      const start = processorMilliseconds();
      expect(cleaned(text).names).toEqual([]);
      return processorMilliseconds() - start;
    });
    expect(times[1]).toBeLessThan(8 * (times[0] ?? 0) + 50);
  });

  test.each([
    'begin 644 readme\nThis is how a file begins.\nend\n',
    'begin 644 x\n`\nend\n',
    'We begin 644 days later\nand go on.\n',
    'begin 644 names\nTHE OLD MILL STANDS\nBY THE RIVER\nAND TURNS\nAND TURNS\n',
  ])('is nothing else: %j', (text) => {
    expect(cleaned(text)).toEqual({ text, names: [] });
  });
});
