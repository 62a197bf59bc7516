import { describe, expect, test } from '@jest/globals';
import { openDocumentFile } from '../../../support/open-documents.js';
import { readBlocks } from '../../../support/read-blocks.js';

describe('signs of RTF', () => {
  const rtf = (body: string) =>
    readBlocks(
      'rtf',
      `{\\rtf1\\ansi\\deff0{\\fonttbl{\\f0\\fcharset0 Times;}{\\f1\\fcharset2{\\*\\panose 05}Symbol;}{\\f2\\fnil\\fcharset2 Wingdings{\\*\\falt Other};}{\\f3\\fcharset2 Marlett;}}${body}}`,
    );

  test('are read in symbol fonts, as bytes and in Unicode', async () => {
    const { text, gaps } = await rtf(
      "{\\f2 \\'fe} paid {\\f2\\u-3928 ?} open {\\f2\\'8c} first, \\f1\\'b1\\f0 5 mm {\\f1 a}-particle\\par",
    );
    expect(text).toBe('☑ paid ☐ open ➊ first, ±5 mm α-particle\n\n');
    expect(gaps).toEqual([]);
  });

  test('before items tell what is done, and are a dash otherwise', async () => {
    const item = (font: number, sign: string, content: string): string =>
      `{\\listtext\\pard\\plain\\f${String(font)} ${sign}\\tab}\\pard\\ls1 ${content}\\par`;
    const { text } = await rtf(
      item(1, "\\'b7", 'plain') + item(2, "\\'fe", 'done') + item(2, "\\'d8", 'arrow'),
    );
    expect(text).toBe('- plain\n- ☑ done\n- arrow\n\n');
  });

  test('before items are a dash where their font is not named, as LibreOffice writes them', async () => {
    const { text, gaps } = await rtf("{\\listtext\\pard\\plain \\u61623\\'3f\\tab}\\ilvl0\\ls1 item\\par");
    expect(text).toBe('- item\n\n');
    expect(gaps).toEqual([]);
  });

  test('that nobody knows are named, and letters beside a sign are text', async () => {
    const { text, gaps } = await rtf('{\\f3 a}b {\\f2\\u-3842 ? no}\\par');
    expect(text).toBe('b ☑ no\n\n');
    expect(gaps).toEqual(['garbled: 1 sign of a symbol font whose meaning is not known was left out.']);
  });
});

describe('signs of HTML', () => {
  const html = async (markup: string) => (await readBlocks('html', markup)).text.trim();

  test.each([
    ['an element for fonts', '<font face="Wingdings">J</font> ok', '☺ ok'],
    ['an attribute with quotes', `<span style='font-family:"Wingdings"'>þ</span> paid`, '☑ paid'],
    ['the short form', '<span style="font: bold 12pt/1.2 Symbol, serif">a</span>-ray', 'α-ray'],
    ['a class', '<style>.s{font-family:Symbol}</style><i class=s>D</i>T', 'ΔT'],
    ['what holds it', '<p style="font-family:Wingdings">ü<b>û</b></p>', '✓✗'],
  ])('are read where %s names the font', async (_name, markup, shown) => {
    expect(await html(markup)).toBe(shown);
  });

  test.each([
    ['comes second', '<span style="font-family:Calibri, Wingdings">Jay</span>'],
    [
      'is undone inside',
      `<span style="font-family:Symbol"><span style='font:7pt "Times New Roman"'>Jay</span></span>`,
    ],
    ['is one of Unicode', '<span style="font-family:Segoe UI Symbol">Jay</span>'],
  ])('are letters where a symbol font %s', async (_name, markup) => {
    expect(await html(markup)).toBe('Jay');
  });

  test('of mails are read, too', async () => {
    const mail =
      'Subject: Thanks\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Fine <span style="font-family:Wingdings">J</span></p>';
    expect((await readBlocks('eml', mail)).text).toContain('Fine ☺');
  });
});

describe('signs of OpenDocument', () => {
  const font = '<style:font-face style:name="W1" svg:font-family="Wingdings" style:font-charset="x-symbol"/>';
  const style = `${font}<style:style style:name="t" style:family="text"><style:text-properties style:font-name="W1"/></style:style><style:style style:name="g" style:family="text"><style:text-properties fo:font-family="Symbol"/></style:style>`;
  const span = (name: string, content: string): string =>
    `<text:span text:style-name="${name}">${content}</text:span>`;

  test('are read in the fonts that styles name or declare', async () => {
    const body = `<text:p>${span('t', '\uf0fe')} paid, ${span('g', 'a')}-ray</text:p>`;
    expect((await readBlocks('odt', openDocumentFile('text', body, { styles: style }))).text).toBe(
      '☑ paid, α-ray\n\n',
    );
  });

  test('before items tell what is done, also in lists within others', async () => {
    const level = (number: number, sign: string): string =>
      `<text:list-level-style-bullet text:level="${String(number)}" text:bullet-char="${sign}"><style:text-properties style:font-name="W1"/></text:list-level-style-bullet>`;
    const list = `${font}<text:list-style style:name="L">${level(1, '\uf0a7')}${level(2, '\uf0a8')}</text:list-style>`;
    const item = (content: string, more = ''): string =>
      `<text:list-item><text:p>${content}</text:p>${more}</text:list-item>`;
    const body = `<text:list text:style-name="L">${item('plain', `<text:list>${item('open')}</text:list>`)}</text:list>`;
    expect((await readBlocks('odt', openDocumentFile('text', body, { styles: list }))).text).toBe(
      '- plain\n  - ☐ open\n\n',
    );
  });
});
