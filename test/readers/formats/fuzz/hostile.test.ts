import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FileFormat } from '../../../../src/readers/detection/formats.js';
import { FAILURE_CODES } from '../../../../src/shared/errors.js';
import { parseAndChunk } from '../../../../src/workers/parse/parse-and-chunk.js';
import { endOf } from '../../../support/fuzz/fuzz.js';
import { officePackage, root } from '../../../support/office-packages.js';
import { openDocumentFile } from '../../../support/open-documents.js';
import { outlookMessage } from '../../../support/outlook-message.js';
import { readBlocks } from '../../../support/read-blocks.js';

const MEGABYTE = 1024 * 1024;
const DEEP = 100_000;
const ENDS: readonly string[] = ['read', ...FAILURE_CODES];
const fill = (piece: string, length: number): string => piece.repeat(Math.floor(length / piece.length));
const word = (body: string): Uint8Array =>
  officePackage({ parts: { 'word/document.xml': root('w:document', `<w:body>${body}</w:body>`) } });
const mail = (encoding: string, body: string): string =>
  `From: a@example.com\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}`;

let path = '';
beforeAll(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'quire-hostile-')), 'file');
});
afterAll(() => rm(join(path, '..'), { recursive: true, force: true }));

async function chunksOf(format: FileFormat, content: string | Uint8Array, maxChunks = 20_000) {
  await writeFile(path, content);
  return await parseAndChunk({ format, source: { path }, chunk: { size: 512, overlap: 64, maxChunks } });
}

test.each<[FileFormat, string | Uint8Array]>([
  ['html', `${'<div>'.repeat(DEEP)}x`],
  ['markdown', `${'> '.repeat(DEEP)}x\n${'- '.repeat(DEEP)}x\n${'['.repeat(DEEP)}x`],
  ['json', `${'[{"a":'.repeat(DEEP)}1`],
  ['xml', `${'<a>'.repeat(DEEP)}x${'</a>'.repeat(DEEP)}`],
  [
    'notebook',
    `{"nbformat":4,"metadata":${'['.repeat(DEEP)}${']'.repeat(DEEP)},"cells":[{"cell_type":"markdown","source":"x"}]}`,
  ],
  ['code', `${'('.repeat(DEEP)}x`],
  ['rtf', `{\\rtf1 ${'{\\b '.repeat(DEEP)}x${'}'.repeat(DEEP)}}`],
  ['srt', `1\n00:00:01,000 --> 00:00:02,000\n${'<i>'.repeat(DEEP)}x\n`],
  ['vtt', `WEBVTT\n\n00:01.000 --> 00:02.000\n${'<b>'.repeat(DEEP)}x\n`],
  ['eml', `From: a@example.com\r\nContent-Type: text/html\r\n\r\n${'<div>'.repeat(DEEP)}x`],
  ['docx', word('<w:tbl><w:tr><w:tc>'.repeat(DEEP))],
  ['odt', openDocumentFile('text', '<text:list><text:list-item>'.repeat(DEEP))],
  ['ods', openDocumentFile('spreadsheet', '<table:table><table:table-row><table:table-cell>'.repeat(DEEP))],
  ['odp', openDocumentFile('presentation', `<draw:page>${'<draw:g>'.repeat(DEEP)}`)],
])('%s that is nested a hundred thousand deep ends with text or a code', async (format, content) => {
  expect(ENDS).toContain(await endOf(() => readBlocks(format, content)));
});

describe('JSON', () => {
  test('with a string of many escapes is read', async () => {
    const { text } = await readBlocks('json', `{"a": "${'\\\\'.repeat(4 * MEGABYTE)}", "b": "the end"}`);
    expect(text).toContain('b: the end');
  });

  test('whose string is never closed is read until there, and says so', async () => {
    const { text, gaps } = await readBlocks('json', `{"a": "one", "b": "${'\\'.repeat(8 * MEGABYTE)}`);
    expect(text).toContain('a: one');
    expect(gaps).toEqual(['unreadable: A string is not closed: what follows its beginning is not read.']);
  });
});

describe('mail', () => {
  test.each([
    ['short lines', mail('7bit', fill('a\n', 6 * MEGABYTE))],
    ['short lines of Base64', mail('base64', fill('Q\n', 6 * MEGABYTE))],
    ['pieces of Base64 that are padded', mail('BASE64', fill('A=A=', 6 * MEGABYTE))],
  ])('of too many %s is refused before it takes memory', async (_, content) => {
    const before = process.memoryUsage().rss;
    await expect(readBlocks('eml', content)).rejects.toMatchObject({ code: 'too_large' });
    expect(process.memoryUsage().rss - before).toBeLessThan(256 * MEGABYTE);
  });

  test('in an encoding that writes the same sign is read', async () => {
    const { text } = await readBlocks('eml', mail('quoted-printable', fill('=41', 6 * MEGABYTE)));
    expect(text).toContain('AAAA');
  });

  test('of Outlook whose table of sectors is nowhere, or whose root is none, is damaged', async () => {
    const bytes = Buffer.from(outlookMessage({ subject: 'One', body: 'Text' }));
    const nowhere = Buffer.from(bytes);
    nowhere.writeInt32LE(-1, 0x4c);
    const rootless = Buffer.from(bytes);
    rootless[(bytes.readInt32LE(0x30) + 1) * 512 + 0x42] = 0;
    for (const damaged of [nowhere, rootless])
      await expect(readBlocks('msg', damaged)).rejects.toMatchObject({ code: 'corrupt' });
  });
});

describe('a document', () => {
  test('of repetitive text that compresses to a fiftieth is read', async () => {
    const line = 'The same sentence again and again, as in forms. '.repeat(10);
    const bytes = word(`<w:p><w:r><w:t>${line}</w:t></w:r></w:p>`.repeat(4_000));
    const { receipt } = await chunksOf('docx', bytes);
    expect(receipt.characters).toBeGreaterThan(10 * (8 * bytes.length));
  });

  test('with sixty thousand headings is put into places in time', async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => `${'#'.repeat(1 + (i % 6))} Heading ${String(i)}`);
    const { chunks } = await chunksOf('markdown', lines.join('\n'));
    expect(chunks.at(-1)?.location?.lines?.last).toBe(60_000);
    expect(chunks.at(-1)?.section).toHaveLength(6);
  });

  test('of forty thousand rows repeats its header within each chunk, which stays within its tokens', async () => {
    const header = Array.from({ length: 12 }, (_, i) => `column number ${String(i)}`);
    const { chunks } = await chunksOf('csv', `${header.join(',')}\n${fill('1\n', 80_000)}`);
    expect(Math.max(...chunks.map(({ tokenCount }) => tokenCount))).toBeLessThanOrEqual(512);
    expect(chunks.every(({ text }) => text.startsWith('| column number 0 |'))).toBe(true);
    expect(chunks.at(-1)?.location?.rows?.last).toBe(40_001);
  });

  test('of more messages than there may be chunks is not read to its end', async () => {
    const mailbox = fill('From a 10:00\nFrom: a\n\nx\n\n', 20 * MEGABYTE);
    await expect(chunksOf('mbox', mailbox, 100)).rejects.toMatchObject({
      code: 'too_large',
      message: 'The document has more than 100 chunks.',
    });
  });
});
