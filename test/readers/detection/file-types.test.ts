import { describe, expect, test } from '@jest/globals';
import { adviceFor, detectFileType } from '../../../src/readers/detection/detect.js';
import { formatOf, KNOWN_CONTENT_TYPES } from '../../../src/readers/detection/formats.js';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const formatIn = (
  content: Uint8Array | string,
  filename: string | null = null,
  declared: string | null = null,
) =>
  detectFileType(typeof content === 'string' ? bytes(content) : content, filename, declared)?.format ?? null;

/** The header of a member of a zip. */
const member = (name: string): string =>
  `PK\x03\x04${'\0'.repeat(22)}${String.fromCharCode(name.length)}\0\0\0${name}`;

const OLE = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';

describe('the type of a file', () => {
  test('is told by its content before its name and before what the client says', () => {
    expect(formatIn('%PDF-1.7\n...', 'letter.txt', 'text/plain')).toBe('pdf');
    expect(formatIn('<!DOCTYPE html><p>x', 'page.txt', null)).toBe('html');
    expect(formatIn(member('word/document.xml'), 'letter.zip')).toBe('docx');
  });

  test('is PDF by a mark behind other bytes, but not where a text or another format has it within', () => {
    expect(formatIn(`junk\n%PDF-1.4\n${'\x01'.repeat(100)}`)).toBe('pdf');
    expect(formatIn('junk\n%PDF-1.4\n1 0 obj', 'paper.pdf')).toBe('pdf');
    expect(formatIn('\xef\xbb\xbf\n%PDF-1.4\n1 0 obj', 'paper')).toBe('pdf');
    expect(formatIn('A PDF begins with %PDF-1.7.', 'notes.md')).toBe('markdown');
    expect(formatIn('head = "%PDF-1.4"\n', 'write.py')).toBe('code');
    const embedded = `${member('word/embeddings/a.pdf')}%PDF-1.4${member('word/document.xml')}\x01\x02\x03`;
    expect(formatIn(embedded, 'letter.docx')).toBe('docx');
    expect(formatIn('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0%PDF-')).toBe('png');
  });

  test('is told by its name where the content is any text, and by the client last', () => {
    expect(formatIn('a,b\n1,2', 'table.CSV', 'text/plain')).toBe('csv');
    expect(formatIn('# Title', 'notes.md', 'text/plain')).toBe('markdown');
    expect(formatIn('a;b', null, 'text/csv; charset=utf-8')).toBe('csv');
    expect(formatIn('{"a": 1}', 'data')).toBe('json');
    expect(formatIn('just words', 'notes', 'application/octet-stream')).toBe('text');
  });

  test('carries the content type of its format', () => {
    expect(detectFileType(bytes('x'), 'a.txt', null)).toEqual({ format: 'text', contentType: 'text/plain' });
    for (const contentType of KNOWN_CONTENT_TYPES) expect(formatOf(contentType)).toBeDefined();
  });

  test('is unknown for binary content, whatever it is named', () => {
    const junk = Uint8Array.from({ length: 4_096 }, (_, index) => (index * 7919 + (index >> 3)) % 256);
    expect(formatIn(junk, 'notes.txt', 'text/plain')).toBeNull();
  });

  test('is told by the members of a zip, and unknown for other ones', () => {
    expect(formatIn(member('xl/workbook.xml'), 'letter.docx')).toBe('xlsx');
    expect(formatIn(member('[Content_Types].xml') + member('ppt/presentation.xml'))).toBe('pptx');
    expect(formatIn(member('mimetype') + 'application/epub+zip')).toBe('epub');
    expect(formatIn(member('mimetype') + 'application/vnd.oasis.opendocument.spreadsheet')).toBe('ods');
    expect(formatIn(member('readme.txt'), 'files.zip')).toBeNull();
    expect(formatIn(member('META-INF/MANIFEST.MF'), 'program.docx')).toBeNull();
  });

  test('is told by the start of RTF, mail, mailboxes, XML, subtitles and pictures', () => {
    expect(formatIn('{\\rtf1 text}', 'letter.txt')).toBe('rtf');
    expect(formatIn('From ann@example.com Thu Jan  1 10:00:00 2026\nSubject: x\n', 'mails')).toBe('mbox');
    expect(formatIn('<?xml version="1.0"?><a/>', 'data')).toBe('xml');
    expect(formatIn('<!DOCTYPE article SYSTEM "a.dtd"><article/>', 'data')).toBe('xml');
    expect(formatIn('<article/>', 'paper.nxml')).toBe('xml');
    expect(formatIn('WEBVTT\n\n00:01.000 --> 00:02.000\nHi', 'talk.txt')).toBe('vtt');
    expect(formatIn('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0', 'picture.md')).toBe('png');
    expect(formatIn('\xff\xd8\xff\xe0\0\x10JFIF\0', 'scan')).toBe('jpeg');
    expect(formatIn('def run():\n    pass\n', 'tool.py', 'text/plain')).toBe('code');
  });

  test('is mail for a sender and two other headers of mail, unless the name says something else', () => {
    const headers = ['X-Y: y', ' folded', 'To: b@example.com', 'From: a@example.com', 'Subject: x'].join(
      '\r\n',
    );
    for (const name of ['mail', 'mail.txt', 'mail.msg', 'page.mht'])
      expect(formatIn(`Date: today\r\n${headers}\r\n\r\nText`, name)).toBe('eml');
    expect(formatIn(`Date: today\r\n${headers}\r\n\r\nText`, 'mail.md')).toBe('markdown');
    expect(formatIn('From: here\nto: there\n\nSubject: travels', 'notes')).toBe('text');
    expect(formatIn('From: here\nGo on.\nTo: there\nSubject: x', 'notes.txt')).toBe('text');
    expect(formatIn('To: here\nDate: today\nSubject: x\n\nText', 'notes.txt')).toBe('text');
    expect(formatIn('From: here\nTo: there\n\nSubject: travels\n', 'notes.txt')).toBe('text');
    for (const name of ['page.mht', 'page.mhtml', 'page.eml'])
      expect(formatIn('Snapshot-Content-Location: x\n', name)).toBe('eml');
    for (const type of ['multipart/related', 'application/x-mimearchive'])
      expect(formatIn('Snapshot-Content-Location: x\n', 'page', type)).toBe('eml');
    const memo = 'From: Ann\nTo: Bob\nDate: today\n';
    expect(formatIn(`${memo}Subject: a mail whose headers are cut off, ${'x'.repeat(5_000)}`)).toBe('eml');
    const cutInName = `${memo}Subject: ${'x'.repeat(4_096)}`.slice(0, 4_090);
    expect(formatIn(`${cutInName}\nKeywords: of which the start ends within the name`)).toBe('eml');
    expect(formatIn(`${'Auto-Submitted: no\n'.repeat(50)}${memo}\nDear Bob`)).toBe('eml');
    // Without an empty line, a reader of mails would take these for headers.
    for (const text of [`Dear Bob, all is well.\nAnn`, ` \nDear Bob`, `1. Go\n\n2. Come`])
      expect(formatIn(`${memo}${text}`, 'memo.txt')).toBe('text');
  });

  test('is mail where programs wrote its headers, however many stand above its sender', () => {
    const passedOn = `Return-Path: <a@example.com>\nReceived: from a\n by b\n`;
    expect(formatIn(`${passedOn}Importance: low\nFrom: a@example.com\n\nText`, 'mail.txt')).toBe('eml');
    expect(formatIn(`${passedOn}Arc-Seal: ${'x'.repeat(5_000)}`, 'mail')).toBe('eml');
    expect(formatIn(passedOn.repeat(60), 'mail')).toBe('eml');
    expect(formatIn(passedOn, 'mail.eml')).toBe('eml');
    const news = 'From: a@example.com\nSubject: x\nOrganization: y\nNNTP-Posting-Host: z\nDate: today\n';
    expect(formatIn(`${news}\nText`)).toBe('eml');
  });

  test('is text, of which a reader of mails would lose lines, where only some look like headers of mail', () => {
    const memo = 'From: Ann\nTo: Bob\nDate: today\n';
    expect(formatIn(`${memo}Decision: we buy the mill\n\nMore`, 'memo.txt')).toBe('text');
    expect(formatIn(`${memo}${memo}`, 'memos.txt')).toBe('text');
    expect(formatIn('Received: 12 boxes of apples\nNote: they are bad\n\nMore', 'notes.txt')).toBe('text');
    expect(formatIn('X-ray: no fracture\nPatient: Ann\n\nMore', 'report.md')).toBe('markdown');
  });

  test('is told in a few milliseconds, whatever the bytes are', () => {
    const started = process.cpuUsage();
    for (const text of [
      `From ${'11:11:'.repeat(1_000)}`,
      `From ${'a 11:11 '.repeat(8_000)}`,
      'From '.repeat(13_000),
      'From: a\n '.repeat(7_000),
      'a'.repeat(65_000),
    ])
      formatIn(text);
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(100);
  });

  test('is unknown for office files until 2003, with advice what to save them as', () => {
    const old = bytes(`${OLE}${'\0'.repeat(100)}`);
    expect(formatIn(old, 'old.doc')).toBeNull();
    expect(adviceFor(old, 'old.doc')).toBe('save the file as docx');
    expect(adviceFor(old, 'old.XLS')).toBe('save the file as xlsx');
    expect(adviceFor(old, 'any.bin')).toBeNull();
  });

  test('is unknown for binary workbooks, which are packages as well, with the same advice', () => {
    const workbook = bytes(member('[Content_Types].xml') + member('xl/workbook.bin'));
    for (const name of ['sums.xlsb', 'sums.xlsx']) expect(formatIn(workbook, name)).toBeNull();
    expect(adviceFor(workbook, 'sums.xlsb')).toBe('save the file as xlsx');
    for (const part of ['xl/sharedStrings.bin', 'xl/worksheets/sheet12.bin'])
      expect(formatIn(member('[Content_Types].xml') + member(part), 'sums.xlsx')).toBeNull();
    expect(formatIn(member('xl/printerSettings/printerSettings1.bin') + member('xl/workbook.xml'))).toBe(
      'xlsx',
    );
  });

  test('is docx for an encrypted office file and for a broken one so named, which then fail with their reason', () => {
    const stream = Buffer.from('EncryptedPackage', 'utf16le').toString('latin1');
    expect(formatIn(`${OLE}${'\0'.repeat(100)}${stream}\0`, 'anything.bin')).toBe('docx');
    expect(formatIn('PK\x03\x04 cut off', 'letter.docx')).toBe('docx');
    expect(formatIn(`${OLE}${'\0'.repeat(100)}`, 'letter.docx')).toBe('docx');
  });

  test('is told by name for an empty file, else text', () => {
    expect(formatIn('', 'empty.pdf')).toBe('pdf');
    expect(formatIn('', 'empty.json')).toBe('json');
    expect(formatIn('', null)).toBe('text');
    expect(formatIn(' \n ', 'empty')).toBe('text');
  });

  test('is text in every encoding of Unicode', () => {
    for (const encoding of ['utf8', 'utf16le'] as const)
      expect(formatIn(Buffer.from('Grüße und mehr Text, 東京', encoding), 'a.txt')).toBe('text');
    expect(formatIn(Buffer.from('\ufeffGrüße, 東京の人', 'utf16le'), 'a.txt')).toBe('text');
    expect(formatIn(Buffer.from('\ufeffabc', 'utf16le').swap16(), 'a.csv')).toBe('csv');
  });
});
