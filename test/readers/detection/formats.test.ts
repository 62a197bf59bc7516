import { describe, expect, test } from '@jest/globals';
import { adviceFor, detectFileType } from '../../../src/readers/detection/detect.js';
import {
  contentTypeOf,
  factsOf,
  formatByExtension,
  formatOf,
  isPicture,
  type FileFormat,
} from '../../../src/readers/detection/formats.js';
import { startsAsHtml } from '../../../src/readers/detection/text.js';
import { isQuick, isQuickContent } from '../../../src/shared/queues/job-kinds.js';

/** Formats with the content types of their files, that of answers first, and what the names of these end with. */
const FORMATS: readonly (readonly [FileFormat, types: string, extensions: string])[] = [
  ['text', 'text/plain', 'txt text log'],
  ['markdown', 'text/markdown text/x-markdown', 'md markdown mdown'],
  ['html', 'text/html application/xhtml+xml', 'html htm xhtml'],
  ['csv', 'text/csv application/csv text/tab-separated-values', 'csv tsv tab'],
  [
    'json',
    'application/json text/json application/x-ndjson application/jsonl application/ld+json',
    'json jsonl ndjson geojson',
  ],
  ['xml', 'application/xml text/xml', 'xml nxml'],
  ['notebook', 'application/x-ipynb+json', 'ipynb'],
  ['srt', 'application/x-subrip text/srt', 'srt'],
  ['vtt', 'text/vtt', 'vtt'],
  [
    'code',
    'text/x-source-code text/x-python text/javascript application/javascript text/x-java-source text/x-c',
    'bash c cc cpp cs css cxx dart ex exs go h hpp hs java jl js jsx kt kts lua m mjs mm php pl pm proto ps1 py pyi r rb rs scala scss sh sol sql swift toml ts tsx vue yaml yml zig zsh',
  ],
  ['rtf', 'application/rtf text/rtf', 'rtf'],
  ['eml', 'message/rfc822 multipart/related application/x-mimearchive', 'eml mht mhtml'],
  ['mbox', 'application/mbox', 'mbox'],
  ['ics', 'text/calendar application/ics', 'ics'],
  ['msg', 'application/vnd.ms-outlook', 'msg'],
  ['pdf', 'application/pdf application/x-pdf', 'pdf'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx docm dotx'],
  [
    'pptx',
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    'pptx pptm ppsx potx',
  ],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx xlsm xltx'],
  ['odt', 'application/vnd.oasis.opendocument.text', 'odt ott'],
  ['ods', 'application/vnd.oasis.opendocument.spreadsheet', 'ods ots'],
  ['odp', 'application/vnd.oasis.opendocument.presentation', 'odp otp'],
  ['epub', 'application/epub+zip', 'epub'],
  ['png', 'image/png', 'png'],
  ['jpeg', 'image/jpeg image/jpg', 'jpg jpeg'],
  ['tiff', 'image/tiff', 'tif tiff'],
  ['webp', 'image/webp', 'webp'],
  ['bmp', 'image/bmp image/x-ms-bmp image/x-bmp', 'bmp dib'],
  ['gif', 'image/gif', 'gif'],
];

describe('a format', () => {
  test.each(FORMATS)(
    '%s is that of files of these types and names, whatever clients have always called them',
    (format, types, extensions) => {
      expect(types.split(' ').map(formatOf)).toEqual(types.split(' ').map(() => format));
      expect(extensions.split(' ').map(formatByExtension)).toEqual(extensions.split(' ').map(() => format));
      expect(contentTypeOf(format)).toBe(types.split(' ')[0]);
    },
  );

  test('is none of a type or a name that no file has', () => {
    expect([formatOf(''), formatOf('constructor'), formatByExtension(''), formatByExtension('exe')]).toEqual(
      Array.from({ length: 4 }, () => undefined),
    );
  });

  test('that is not plain text makes its files wait behind slow ones, and so do a mebibyte and more', () => {
    const quick = FORMATS.flatMap(([format]) => (isQuick(format, 1) ? [format] : []));
    expect(quick).toEqual(['text', 'markdown', 'html', 'csv', 'json']);
    expect([isQuick('text', 1024 * 1024), isQuick('text', 1024 * 1024 + 1)]).toEqual([true, false]);
    const file = { kind: 'file', sizeBytes: 1 } as const;
    expect(isQuickContent({ ...file, contentType: 'text/csv' })).toBe(true);
    expect(isQuickContent({ ...file, contentType: 'application/pdf' })).toBe(false);
    expect(isQuickContent({ ...file, contentType: 'unknown' })).toBe(false);
    expect(isQuickContent({ kind: 'text', sizeBytes: 1, contentType: 'unknown' })).toBe(true);
  });

  test('has pages as pictures, compiled readers and compressed texts as its kind has', () => {
    const those = (holds: (format: FileFormat) => boolean) =>
      FORMATS.flatMap(([format]) => (holds(format) ? [format] : [])).join(' ');
    expect(those(isPicture)).toBe('png jpeg tiff webp bmp gif');
    expect(those((format) => factsOf(format).hasPages)).toBe('pdf png jpeg tiff webp bmp gif');
    expect(those((format) => factsOf(format).isNative)).toBe('pdf png jpeg tiff webp bmp gif');
    expect(those((format) => factsOf(format).isCompressed)).toBe('pdf docx pptx xlsx odt ods odp epub');
    expect(those((format) => factsOf(format).isEmptyWhenBlank)).toBe('text markdown html csv json');
    expect(those((format) => factsOf(format).container === 'zip')).toBe('docx pptx xlsx odt ods odp epub');
    expect(those((format) => factsOf(format).container === 'binary')).toBe(
      'msg pdf png jpeg tiff webp bmp gif',
    );
    expect(those((format) => factsOf(format).container === 'text').split(' ')).toHaveLength(14);
  });
});

describe('content tells', () => {
  const latin = (text: string) => Buffer.from(text, 'latin1');
  const formatIn = (text: string, name: string | null = null, declared: string | null = null) =>
    detectFileType(latin(text), name, declared)?.format ?? null;
  const filled = '\0\x01\x02\x03'.repeat(20);
  const bitmap = (sign: string) => `BM${'x'.repeat(12)}${sign}\0\0\0${filled}`;

  test.each([
    ['png', `\x89PNG\r\n\x1a\n${filled}`],
    ['jpeg', `\xff\xd8\xff${filled}`],
    ['tiff', `II\x2a\0${filled}`],
    ['tiff', `MM\0\x2a${filled}`],
    ['webp', `RIFF1234WEBP${filled}`],
    ['gif', `GIF87a${filled}`],
    ['gif', `GIF89a${filled}`],
    ...['\x0c', '\x10', '\x28', '\x34', '\x38', '\x40', '\x6c', '\x7c'].map((sign) => ['bmp', bitmap(sign)]),
  ])('a picture of %s only where its mark begins the file', (format, content) => {
    expect(formatIn(content, 'a.txt')).toBe(format);
    expect(formatIn(`....${content}`, 'a.bin')).toBeNull();
  });

  test('no picture where a text begins with the name of a format', () => {
    expect(formatIn('GIF89a is the newest of its versions', 'notes.txt')).toBe('text');
    expect(formatIn('BM stands for a bitmap of Windows.', 'notes.txt')).toBe('text');
    expect(formatIn(`\x7fELF${filled}`, 'notes.txt')).toBeNull();
  });

  test.each([
    ['BEGIN:VCALENDAR\r\nVERSION:2.0', 'ics'],
    ['begin:vcalendar\nversion:2.0', 'ics'],
    ['1\n00:00:01,000 --> 00:00:02,000\nHi', 'srt'],
    ['12\r\n00:00:01.000 --> 00:00:02.000\r\nHi', 'srt'],
    ['WEBVTT', 'vtt'],
    ['WEBVTTS are many', 'text'],
    ['%!PS-Adobe-3.0', null],
    ['  \n{\\rtf1}', 'rtf'],
    ['\xef\xbb\xbf{\\rtf1}', 'rtf'],
    ['so {\\rtf1}', 'text'],
    ['<?xml version="1.0"?><svg width="1">', null],
    ['<!DOCTYPE svg PUBLIC>', null],
    ['<!DOCTYPE note>', 'xml'],
    ['{"a": 1}', 'json'],
    ['{}', 'json'],
    ['[[1]]', 'json'],
    ['[1, 2]', 'json'],
    ['["a"]', 'json'],
    ['[see below]', 'text'],
    ['{see below}', 'text'],
  ])('%j as %s', (content, format) => {
    expect(formatIn(content)).toBe(format);
  });

  test.each(['svg', 'ps', 'eps', 'doc', 'xls', 'ppt', 'zip'])(
    'nothing of a text whose name ends with %s',
    (extension) => {
      expect(formatIn('some words', `a.${extension}`)).toBeNull();
    },
  );

  test('packages by the first member of them that says what they are', () => {
    const member = (name: string) =>
      `PK\x03\x04${'\0'.repeat(22)}${String.fromCharCode(name.length)}\0\0\0${name}`;
    const stated = (type: string) => `${member('mimetype')}${type}${filled}`;
    const openDocument = 'application/vnd.oasis.opendocument.';
    expect(formatIn(stated(`${openDocument}text`))).toBe('odt');
    expect(formatIn(stated(`${openDocument}text-template`))).toBe('odt');
    expect(formatIn(stated(`${openDocument}text-master`))).toBeNull();
    expect(formatIn(stated(`${openDocument}presentation`))).toBe('odp');
    for (const start of ['PK\x05\x06', 'PK\x07\x08'])
      expect(formatIn(`${start}${filled}`, 'a.docx')).toBe('docx');
    for (const other of ['visio/document.xml', 'AndroidManifest.xml'])
      expect(formatIn(member(other), 'a.docx')).toBeNull();
    expect(formatIn(member('any.xml'), 'a.txt')).toBeNull();
  });

  test('files of Outlook and of Office until 2003 by their streams, else by their names', () => {
    const ole = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';
    const wide = (text: string) => Buffer.from(text, 'utf16le').toString('latin1');
    expect(formatIn(`${ole}${filled}${wide('__properties_version1.0')}`, 'a.bin')).toBe('msg');
    expect(formatIn(`${ole}${filled}`, 'a.msg')).toBe('msg');
    expect(formatIn(`${ole}${filled}${wide('EncryptedPackage')}`, 'a.xlsx')).toBe('xlsx');
    expect(formatIn(`${ole}${filled}`, 'a.pptx')).toBe('pptx');
    expect(formatIn(`${ole}${filled}`, 'a.epub')).toBeNull();
  });

  test('what to save files of Office until 2003 as, where they are no texts', () => {
    const advised = 'doc dot xls xlt xlsb ppt pps'
      .split(' ')
      .map((each) => adviceFor(latin(filled), `a.${each}`));
    expect(advised).toEqual(
      ['docx', 'docx', 'xlsx', 'xlsx', 'xlsx', 'pptx', 'pptx'].map((each) => `save the file as ${each}`),
    );
    expect(adviceFor(latin('some words'), 'a.doc')).toBeNull();
    expect(adviceFor(latin(filled), null)).toBeNull();
  });

  test('less than a name does of which other things stand before its end, and less than the client without one', () => {
    expect(formatIn('some words', 'a.md.txt')).toBe('text');
    expect(formatIn('some words', 'a.md ')).toBe('text');
    expect(formatIn('some words', 'a', ' Text/Markdown ; charset=utf-8')).toBe('markdown');
    expect(formatIn('some words', 'a.txt', 'text/markdown')).toBe('text');
  });
});

test.each([
  ['<html>', true],
  ['<HTML lang="en">', true],
  ['<!doctype   html>', true],
  ['<!-- a --> \n<!-- b --><?XML version="1.0"?> <html>', true],
  ['<!-- never ends <html>', false],
  ['<?xml never ends', false],
  ['<htmlx>', false],
  ['<!doctype svg>', false],
  ['so <html>', false],
  ['<!-->--><html>', true],
  ['', false],
])('that a page begins with %j is %s', (text, isPage) => {
  expect(startsAsHtml(text)).toBe(isPage);
});
