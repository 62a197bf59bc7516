import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { strToU8, unzipSync, zipSync } from 'fflate';
import type { FileFormat } from '../../../src/readers/detection/formats.js';
import { useParsers } from '../../support/use-parsers.js';

const pool = useParsers({ size: 1, timeoutMilliseconds: 30_000, maxChunks: 1_000 });
let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quire-formats-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function textOf(content: string | Uint8Array, format: FileFormat): Promise<string> {
  const path = join(directory, 'file');
  await writeFile(path, content);
  const { chunks } = await pool.parse({ path, format });
  return chunks.map(({ text, overlap }) => text.slice(overlap)).join('');
}

describe('plain text', () => {
  test('is read in UTF-8, UTF-16 and UTF-32, with and without a byte order mark', async () => {
    const text = 'Größe: 5 € für 東京, naïve 😀 and some more words';
    const marked = Buffer.from(`\ufeff${text}`, 'utf16le');
    const wide = Buffer.from(
      Uint32Array.from([0xfeff, ...Array.from(text, (letter) => letter.codePointAt(0) ?? 0)]).buffer,
    );
    for (const bytes of [
      Buffer.from(text),
      Buffer.from(`\ufeff${text}`),
      Buffer.from(text, 'utf16le'),
      marked,
      Buffer.from(marked).swap16(),
      wide,
    ])
      expect(await textOf(bytes, 'text')).toBe(text);
  });

  test('is read in legacy encodings', async () => {
    expect(await textOf(Buffer.from('Die Größe der Häuser überraschte Jürgen.', 'latin1'), 'text')).toContain(
      'Größe der Häuser',
    );
    const greek = Buffer.from('c7e4eef5f3f4e120e5edfdf0f1f9f4e820', 'hex');
    expect((await textOf(greek, 'text')).length).toBeGreaterThan(5);
    const japanese = 'これは日本語の文章です。文字コードを調べるための長さが必要です。';
    const shiftJis =
      '82b182ea82cd93fa967b8cea82cc95b68fcd82c582b781420a82b182ea82cd93fa967b8cea82cc95b68fcd82c582b781420a'.repeat(
        3,
      );
    expect(await textOf(Buffer.from(shiftJis, 'hex'), 'text')).toContain(japanese.slice(0, 11));
  });

  test('loses zeros and lone surrogates, and nothing else', async () => {
    expect(await textOf('one\0 two', 'text')).toBe('one two');
    const { chunks } = await pool.parse({ text: '\ufeffa\0b \ud800 c', format: 'text' });
    expect(chunks.map(({ text }) => text)).toEqual(['ab \ufffd c']);
  });

  test('that is empty or blank fails as empty', async () => {
    for (const blank of ['', ' \n\t ', '\ufeff', '\ufeff \n'])
      await expect(textOf(blank, 'text')).rejects.toMatchObject({ code: 'empty_document' });
    await expect(textOf(Buffer.from('\ufeff \n', 'utf16le'), 'text')).rejects.toMatchObject({
      code: 'empty_document',
    });
    await expect(pool.parse({ text: ' \0 ', format: 'text' })).rejects.toMatchObject({
      code: 'empty_document',
    });
  });
});

describe('HTML', () => {
  test('keeps what is read and the order it is read in', async () => {
    const html = `<!doctype html><title>The title</title><style>p{}</style><script>if (a<b) hidden()</script>
      <h1>Heading</h1><p>First <b>bo</b>ld &amp; &eacute;l&#233;gant<br>line.</p><ul><li>one<li>two</ul>
      <table><tr><th>Name<th>Age<tr><td>Ann<td>42</table><pre>a  b\n c</pre>`;
    expect(await textOf(html, 'html')).toBe(
      'The title\n\nHeading\n\nFirst bold & élégant\nline.\n\n- one\n- two\n\n| Name | Age |\n| --- | --- |\n| Ann | 42 |\n\na  b\n c',
    );
  });

  test('is decoded by its bytes first, its own word second', async () => {
    const page = (charset: string) => `<meta charset="${charset}"><p>Größe</p>`;
    expect(await textOf(page('iso-8859-1'), 'html')).toBe('Größe');
    expect(await textOf(Buffer.from(page('windows-1252'), 'latin1'), 'html')).toBe('Größe');
    expect(await textOf(Buffer.from(page('utf-8'), 'latin1'), 'html')).toBe('Größe');
  });

  test('of thousands of nested elements is read, without scripts and styles', async () => {
    const inside =
      'deep <b>words</b> <script>hidden()</script><svg><g><text>hidden</text></g></svg> and <i>more';
    const html = `<html>first ${'<div>'.repeat(3_000)}${inside}${'</div>'.repeat(3_000)} last`;
    expect((await textOf(html, 'html')).replace(/\s+/g, ' ')).toBe('first deep words and more last');
  });

  test('holds text of the first 512 elements within each other as their own', async () => {
    const within = (depth: number) =>
      textOf(`${'<div>'.repeat(depth)}<b style="display:none">Canary</b> words`, 'html');
    expect(await within(511)).toBe('words');
    // Deeper elements count as empty, so that their text is that of the one around them.
    expect(await within(512)).toBe('Canary words');
  });

  test('without text has none', async () => {
    await expect(textOf('<html><body><img src=x></body></html>', 'html')).rejects.toMatchObject({
      code: 'no_text',
    });
  });
});

describe('CSV', () => {
  test('is a table, each value below the name of its column', async () => {
    const text = await textOf('name;city\nAnn;"Bonn; Rhein"\nBob;\n', 'csv');
    expect(text).toBe('| name | city |\n| --- | --- |\n| Ann | Bonn; Rhein |\n| Bob |  |');
  });

  test('without names of columns keeps its rows, and is forgiven ragged ones and stray quotes', async () => {
    expect(await textOf('1,2\n3,4,5\n6,say "hi"\n', 'csv')).toBe(
      '| 1 | 2 |\n| 3 | 4 | 5 |\n| 6 | say "hi" |',
    );
  });
});

describe('JSON', () => {
  test('has a line for each value behind its key, in the order of the file, numbers as written', async () => {
    const json =
      '{"title": "A \\u0022b\\u0022", "size": 12345678901234567890, "tags": ["x", null], "who": {"name": "Ann"}}';
    expect(await textOf(json, 'json')).toBe(
      'title: A "b"\nsize: 12345678901234567890\ntags: \n  - x\n  - null\nwho: \n  name: Ann',
    );
  });

  test('may be one value a line, or broken off', async () => {
    expect(await textOf('{"a": 1}\n{"a": 2}\n', 'json')).toBe('a: 1\n\na: 2');
    expect(await textOf('{"a": "one", "b": "tw', 'json')).toContain('a: one');
  });

  test('without a value has no text', async () => {
    await expect(textOf('[[], {}]', 'json')).rejects.toMatchObject({ code: 'no_text' });
  });
});

describe('Word', () => {
  const word = (body: string, parts: Record<string, string> = {}): Uint8Array => {
    const namespaces =
      'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
    const wrap = (name: string, markup: string) =>
      strToU8(`<?xml version="1.0"?><w:${name} ${namespaces}>${markup}</w:${name}>`);
    const types =
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>';
    const sides = Object.fromEntries(
      Object.entries(parts).map(([name, markup]) => [`word/${name}.xml`, wrap('hdr', markup)]),
    );
    return zipSync({
      '[Content_Types].xml': strToU8(types),
      'word/document.xml': wrap('document', `<w:body>${body}</w:body>`),
      ...sides,
    });
  };
  const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

  test('keeps paragraphs and tables in order, and adds headers and text boxes', async () => {
    const cell = (text: string): string => `<w:tc>${paragraph(text)}</w:tc>`;
    const table = `<w:tbl><w:tr>${cell('a')}${cell('b')}</w:tr><w:tr>${cell('c')}${cell('d')}</w:tr></w:tbl>`;
    const text = await textOf(
      word(`${paragraph('before')}${table}${paragraph('after')}`, { header1: paragraph('letterhead') }),
      'docx',
    );
    expect(text).toBe('before\n\n| a | b |\n| --- | --- |\n| c | d |\n\nafter\n\nletterhead');
  });

  test('fetches nothing from outside', async () => {
    let hits = 0;
    const server = createServer((_, response) => {
      hits += 1;
      response.end('fetched');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const url = `http://127.0.0.1:${String(typeof address === 'object' ? address?.port : 0)}/picture.png`;
    const picture = `<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip r:link="rId1"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`;
    const relations = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" Target="${url}" TargetMode="External"/></Relationships>`;
    const bytes = zipSync({
      ...unzipSync(word(`${paragraph('text')}${picture}`)),
      'word/_rels/document.xml.rels': strToU8(relations),
    });
    expect(await textOf(bytes, 'docx')).toBe('text');
    const linked = `<html><img src="${url}"><link rel="stylesheet" href="${url}"><iframe src="${url}"></iframe>text</html>`;
    expect(await textOf(linked, 'html')).toBe('text');
    await new Promise((resolve) => server.close(resolve));
    expect(hits).toBe(0);
  });

  test('finds its main part as the package names it, however that is written', async () => {
    const parts = unzipSync(word(paragraph('text')));
    const { 'word/document.xml': body, ...others } = parts;
    const relation = (space: string, target: string) => ({
      '_rels/.rels': strToU8(
        `<Relationships><Relationship${space}Type="http://x/officeDocument" Target="${target}"/></Relationships>`,
      ),
    });
    const elsewhere = { ...others, 'other/main.xml': body ?? new Uint8Array() };
    for (const space of [' ', '\n', '\t'])
      expect(await textOf(zipSync({ ...elsewhere, ...relation(space, '/other/main.xml') }), 'docx')).toBe(
        'text',
      );
    // Names of what every object has are no parts.
    expect(await textOf(zipSync({ ...parts, ...relation(' ', 'constructor') }), 'docx')).toBe('text');
  });

  test('fails as corrupt where it is none', async () => {
    await expect(textOf('PK\x03\x04 something', 'docx')).rejects.toMatchObject({ code: 'corrupt' });
    await expect(textOf(zipSync({ 'a.xml': strToU8('<a/>') }), 'docx')).rejects.toMatchObject({
      code: 'corrupt',
    });
  });
});
