import { describe, expect, test } from '@jest/globals';
import { cellAt, readBlocks } from '../../../support/read-blocks.js';

const read = (html: string) => readBlocks('html', html);

describe('HTML', () => {
  test('has headings with their levels, and its title and language in the receipt', async () => {
    const { blocks, receipt } = await read(
      '<html lang="de"><title>The title</title><h1>One</h1><p>text<h3>Two</h3><p>more',
    );
    expect(blocks).toEqual([
      { text: 'The title\n\n' },
      { text: 'One\n\n', heading: 1 },
      { text: 'text\n\n' },
      { text: 'Two\n\n', heading: 3 },
      { text: 'more\n\n' },
    ]);
    expect(receipt).toMatchObject({ title: 'The title', language: 'de', gap_count: 0 });
  });

  test('indents items of lists by their nesting', async () => {
    const { text } = await read('<ul><li>one<ol><li>inner</ol><li><p>two</p></ul><p>after');
    expect(text).toBe('- one\n  1. inner\n\n- two\n\nafter\n\n');
  });

  test.each([
    ['<ol><li>a<li>b</ol><ol><li>c</ol>', ['1. a', '2. b', '1. c']],
    ['<ol start="3"><li>Open the valve<li>Drain the tank</ol>', ['3. Open the valve', '4. Drain the tank']],
    ['<ol><li>a<li value="10">b<li>c</ol>', ['1. a', '10. b', '11. c']],
    ['<ol reversed start="2"><li>a<li>b</ol>', ['2. a', '1. b']],
    ['<ol reversed><li>a<ol><li>x</ol><li>b</ol>', ['2. a', '  1. x', '1. b']],
    ['<template><ol reversed><li>x</ol></template><ol reversed><li>a<li>b<li>c', ['3. a', '2. b', '1. c']],
    ['<ol style="list-style-type: upper-alpha"><li>a<li>b</ol>', ['A. a', 'B. b']],
    ['<style>.law { list-style: lower-roman inside }</style><ol class="law"><li>a<li>b', ['i. a', 'ii. b']],
    [
      '<ol type="a"><li>a<li style="list-style-type: lower-greek">b<ul><li>c</ul></ol>',
      ['a. a', 'β. b', '  - c'],
    ],
    ['<ol style="list-style: none"><li>a</ol><ol style="list-style: disc"><li>b</ol>', ['1. a', '- b']],
    [
      '<style>.law { list-style: upper-roman } nav li { list-style: none }</style><ol class="law"><li>a<li>b',
      ['I. a', 'II. b'],
    ],
    ['<ul style="list-style-type: decimal-leading-zero"><li>a<li>b</ul>', ['01. a', '02. b']],
    [`<ul style="list-style-type: '→ '"><li>a<li>b</ul>`, ['- a', '- b']],
    [
      '<ul style="list-style: initial"><li>a</ul><ol style="list-style: var(--x)"><li>b</ol>',
      ['- a', '1. b'],
    ],
    ['<ul style="list-style-type: disclosure-closed"><li>a<li>b</ul>', ['- a', '- b']],
    ['<ol type="a"><li type="1">a<li>b</ol>', ['1. a', 'b. b']],
    ['<ol type="a" start="26"><li>a<li>b<li>c</ol>', ['z. a', 'aa. b', 'ab. c']],
    ['<ol type="I" start="4"><li>a</ol><ol type="A"><li>b</ol>', ['IV. a', 'A. b']],
    ['<ol type="i" start="0"><li>a<li>b</ol>', ['0. a', 'i. b']],
    ['<ol><li>a<ul><li>x</ul><li>b<ol><li>y</ol><li>c</ol>', ['1. a', '  - x', '2. b', '  1. y', '3. c']],
    ['<ol start="99999999999"><li>a</ol><ol start="x"><li>b</ol></ol><li>c', ['1. a', '1. b', '- c']],
  ])('keeps the numbers of ordered lists: %s', async (html, lines) => {
    const { text } = await read(html);
    expect(text.split('\n').filter((line) => line !== '')).toEqual(lines);
  });

  test('keeps right-to-left and Chinese text in the order of reading', async () => {
    const { text } = await read(
      '<p dir="rtl">اللغة <b>العربية</b></p><p style="writing-mode: vertical-rl">第一章</p>',
    );
    expect(text).toBe('اللغة العربية\n\n第一章\n\n');
  });

  test.each([
    [
      '<p><ruby>山路<rt>やまみち</rt></ruby>を<ruby>登<rp>(</rp><rt>のぼ</rt><rp>)</rp></ruby>りながら',
      '山路を登りながら',
    ],
    ['<p><ruby>漢<rt>かん<rt>x</ruby>字</p><p>and more', '漢字\n\nand more'],
    [
      '<p><ruby>漢<rt>かん</p><p>a paragraph that must not be lost',
      '漢\n\na paragraph that must not be lost',
    ],
    ['<div><p><ruby>漢<rt>かん</p>a text after its paragraph</div>', '漢\n\na text after its paragraph'],
    ['<p><ruby>漢<rtc>かん</rtc></ruby>', '漢'],
    ['<p><ruby>漢<rt>かん</ruby>字 and on', '漢字 and on'],
    ['<p><ruby>漢<rt>かん<rt>x<div>and more</div><rt>no reading</rt>', '漢\nand more\nno reading'],
    ['<p><ruby><rb>漢</rb><rb>字</rb><rt>かん</rt><rt>じ</rt></ruby>', '漢字'],
    ['<p><ruby><ruby>漢<rt>かん</rt></ruby><rt>kan</rt></ruby>字', '漢字'],
    ['<p>a line <rt>without characters under it</rt>', 'a line without characters under it'],
  ])('keeps words whole that readings stand above: %s', async (html, shown) => {
    expect((await read(html)).text).toBe(`${shown}\n\n`);
  });

  test('reads formulas without their sources', async () => {
    const formula =
      '<math><semantics><mrow><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></mrow><annotation encoding="application/x-tex">\\TeX</annotation><annotation-xml><ci>E</ci></annotation-xml></semantics></math>';
    expect((await read(`<p>so ${formula} holds`)).text).toBe('so E=mc² holds\n\n');
  });

  test('is decoded as it says, also late in its head', async () => {
    const page = `<!--${'-'.repeat(20_000)}--><meta charset="windows-1251"><p>\xe1\xeb\xee\xea\xed\xee\xf2`;
    expect((await readBlocks('html', Buffer.from(page, 'latin1'))).text).toBe('блокнот\n\n');
  });

  test('makes tables of data rows, in which a cell is found by the names of its row and column', async () => {
    const { blocks, text } = await read(
      '<table><caption>Prices</caption><tr><th>Fruit<th>Price<tr><td>Apple<td>1<br>20<tr><td><p>Pear</p><td>2 | 40</table>',
    );
    expect(text).toContain('Prices\n\n| Fruit');
    expect(cellAt(text, 'Apple', 'Price')).toBe('1 20');
    expect(blocks.at(-1)).toMatchObject({
      text: '| Pear | 2 \\| 40 |\n\n',
      row: { header: '| Fruit | Price |\n| --- | --- |\n' },
    });
  });

  test('repeats merged cells where they name rows and columns, and leaves out empty columns', async () => {
    const { text } = await read(
      '<table><thead><tr><th rowspan=2>Year<th colspan=2>Sales<td><tr><th>North<th>South</thead><tr><td rowspan=2>2019<td>5<td>6<td><tr><td>7<td>8</table>',
    );
    expect(text).toBe(
      '| Year | Sales | Sales |\n| Year | North | South |\n| --- | --- | --- |\n| 2019 | 5 | 6 |\n| 2019 | 7 | 8 |\n\n',
    );
  });

  test('reads tables that arrange a page as text, and those of data within them as tables', async () => {
    const inner = '<table><tr><th>a<th>b<tr><td>1<td>2</table>';
    const { text } = await read(`<table><tr><td>menu<td><h2>Title</h2><p>words</p>${inner}<p>end</table>`);
    expect(text).toBe('menu\n\nTitle\n\nwords\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nend\n\n');
    expect((await read('<table role="presentation"><tr><td>a<td>b<tr><td>c<td>d</table>')).text).toBe(
      'a | b\nc | d\n\n',
    );
  });

  test('takes at most four rows for names of columns, and long texts for those of a page', async () => {
    const named = '<thead>' + '<tr><th>a<th>b'.repeat(6) + '</thead><tr><td>1<td>2';
    expect(
      (await read(`<table>${named}</table>`)).blocks.at(-1)?.row?.header.split('| a | b |'),
    ).toHaveLength(5);
    const long = (letters: number) => `<table><tr><td>a<td>b<tr><td>${'x'.repeat(letters)}<td>d</table>`;
    expect((await read(long(1_500))).blocks).toHaveLength(2);
    expect((await read(long(1_501))).blocks).toHaveLength(1);
  });

  test('does not multiply cells that reach over many rows and columns', async () => {
    const rows = '<tr><td rowspan=65534 colspan=1000>x<td rowspan=65534 colspan=999>y'.repeat(5_000);
    expect((await read(`<table>${rows}</table>`)).text.length).toBeLessThan(1_000_000);
  });
});

describe('text that is not shown in HTML', () => {
  test.each([
    '<p aria-hidden="true">shown</p>',
    '<body bgcolor="#000000"><p style="color:white">shown</p>',
    '<div style="font-size:0"><span style="font-size:14px">shown</span></div>',
    '<div style="visibility:hidden"><p style="visibility:visible">shown</p></div>',
    '<link rel="stylesheet" href="a.css"><div class="dark"><p style="color:white">shown</p></div>',
    '<style>.page .dark {background:#000}</style><div class="dark"><p style="color:white">shown</p></div>',
    '<style>@media print {.x {display:none}}</style><p class="x">shown</p>',
    '<style>.x {display:none} .x.open {display:block}</style><p class="x open">shown</p>',
    '<div style="background-image:url(a.png);background:url(a.png)"><p style="color:#fff">shown</p></div>',
    '<body style="background:#000" text="#fff">shown',
  ])('%s is shown', async (html) => {
    const { text, receipt } = await read(html);
    expect(text).toBe('shown\n\n');
    expect(receipt.gap_count).toBe(0);
  });

  test('of thousands of rules and elements is found in time', async () => {
    const rules = Array.from({ length: 20_000 }, (_, index) => `.a.b${String(index % 5_000)}{display:none}`);
    const html = `<style>${rules.join('')}</style>${'<p class="a c">shown</p>'.repeat(20_000)}`;
    expect((await read(html)).text).toContain('shown');
  }, 10_000);
});
