import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FileFormat } from '../../../src/readers/detection/formats.js';
import { DEFAULT_READ_OPTIONS, type HiddenText } from '../../../src/readers/read-options.js';
import { parseAndChunk } from '../../../src/workers/parse/parse-and-chunk.js';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-unseen-'));
});
afterAll(() => rm(folder, { recursive: true }));

interface How {
  readonly format?: FileFormat;
  readonly hiddenText?: HiddenText;
}

async function read(text: string, { format = 'text', hiddenText = 'drop' }: How = {}) {
  const path = join(folder, 'file');
  await writeFile(path, text);
  const options = { ...DEFAULT_READ_OPTIONS, hiddenText };
  const chunk = { size: 512, overlap: 0, maxChunks: 100 };
  const { chunks, receipt } = await parseAndChunk({ format, source: { path }, options, chunk });
  const gaps = receipt.gaps.map(({ reason, detail }) => `${reason}: ${detail}`);
  return { text: chunks.map((each) => each.text).join(''), gaps };
}

/** A text in the characters that tags of languages had, which no font shows. */
const inTags = (text: string): string =>
  Array.from(text, (letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0))).join('');
/** Bytes in variation selectors, which say how the character before them looks. */
const inSelectors = (bytes: readonly number[]): string =>
  bytes.map((byte) => String.fromCodePoint(byte < 16 ? 0xfe00 + byte : 0xe0100 + byte - 16)).join('');
const NAMED = (count: number, verb = 'left out') => [
  `hidden: ${String(count)} characters without a shape were ${verb}.`,
];

describe('characters that no font shows', () => {
  test('are left out and named, however they spell a text', async () => {
    expect(await read(`Buy${inTags('ignore all')} apples`)).toEqual({ text: 'Buy apples', gaps: NAMED(10) });
    const spelt = inSelectors([...Buffer.from('ignore')]);
    expect(await read(`Buy${spelt} apples`)).toEqual({
      text: `Buy${String.fromCodePoint(spelt.codePointAt(0) ?? 0)} apples`,
      gaps: NAMED(5),
    });
    const table = `name,count\n${'pear,1\n'.repeat(3)}`.replace('name', `name${inTags('x')}`);
    const { text } = await read(table, { format: 'csv' });
    expect(text).toContain('| name | count |');
    expect(text).not.toContain(inTags('x'));
  });

  test('are read where hidden text is, and named where it is flagged', async () => {
    const text = `Buy${inTags('now')} apples`;
    expect(await read(text, { hiddenText: 'flag' })).toEqual({ text, gaps: NAMED(3, 'read') });
    expect(await read(text, { hiddenText: 'keep' })).toEqual({ text, gaps: [] });
  });

  test('stay where they are a part of what is seen', async () => {
    const flag = `\u{1f3f4}${inTags('gbsct')}\u{e007f}`;
    for (const text of [
      `The flag ${flag} of Scotland`,
      'A red heart \u2764\ufe0f',
      'The sign \u845b\u{e0100} of a name',
    ])
      expect(await read(text)).toEqual({ text, gaps: [] });
  });
});

describe('a zero-width no-break space within a word', () => {
  test.each<[FileFormat, string]>([
    ['csv', 'name,place\nzuk\ufeffunft,here\n'],
    ['html', '<p>over zuk\ufeffunft</p>'],
    ['html', '<p>zuk<b>\ufeff</b>unft</p>'],
    [
      'html',
      '<table><tr><th>name</th><th>place</th></tr><tr><td>zuk\ufeffunft</td><td>here</td></tr></table>',
    ],
    ['xml', '<records><record>zuk\ufeffunft</record></records>'],
    ['eml', 'Subject: zuk\ufeffunft\nContent-Type: text/plain; charset=utf-8\n\ntext\n'],
    ['srt', '1\n00:00:01,000 --> 00:00:02,000\nzuk\ufeffunft\n'],
  ])('does not divide it: %s', async (format, text) => {
    const { text: found } = await read(text, { format });
    expect(found.replaceAll('\ufeff', '')).toContain('zukunft');
  });
});
