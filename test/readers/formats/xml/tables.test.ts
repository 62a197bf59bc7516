import { describe, expect, test } from '@jest/globals';
import { readBlocks } from '../../../support/read-blocks.js';

const JATS = 'article article-type="research-article"';

/** Reads what is in a section of an article. */
const readArticle = (xml: string) => readBlocks('xml', `<${JATS}><body><sec>${xml}</sec></body></article>`);

describe('Tables of XML', () => {
  test('in the names of HTML are read behind their caption, with merged cells and the header of each row', async () => {
    const { blocks } = await readArticle(
      '<p>Before.</p><table-wrap id="t"><label>Table 1</label><caption><title>Sizes</title></caption><table frame="hsides"><colgroup><col align="left"/></colgroup><thead><tr><th rowspan="2">Kind</th><th colspan="2">Size</th></tr><tr><th>Low</th><th>High</th></tr></thead><tbody><tr align="top"><td align="left" rowspan="2"><italic>Mouse</italic><sup>1</sup></td><td>2<break/>3</td><td><p>a</p><p>b</p></td></tr><tr><td/><td>7</td></tr></tbody></table><table-wrap-foot><p>Foot.</p></table-wrap-foot></table-wrap><p>After.</p>',
    );
    const head = '| Kind | Size | Size |\n| Kind | Low | High |\n| --- | --- | --- |\n';
    expect(blocks.map(({ text }) => text).join('')).toBe(
      `article-type: research-article\n\nBefore.\n\nlabel: Table 1\n\ntitle: Sizes\n\n${head}| Mouse 1 | 2 3 | a b |\n| Mouse 1 |  | 7 |\n\nFoot.\n\nAfter.\n\n`,
    );
    expect(blocks.filter(({ row }) => row?.header === head)).toHaveLength(2);
  });

  test('in the names of CALS are read with what spans several columns and rows', async () => {
    const { text } = await readBlocks(
      'xml',
      '<!DOCTYPE article PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "d"><article><table id="t" colsep="0"><title>Sizes</title><tgroup cols="3"><colspec colname="a"/><colspec colname="b"/><colspec colname="c"/><spanspec spanname="bc" namest="b" nameend="c"/><thead><row><entry>Kind</entry><entry spanname="bc">Size</entry></row></thead><tbody><row><entry morerows="1">Mouse</entry><entry>2</entry><entry>3</entry></row><row><entry>4</entry><entry>5</entry></row><row><entry namest="a" nameend="b">All</entry><entry><itemizedlist><listitem><para>6</para></listitem></itemizedlist></entry></row></tbody></tgroup></table></article>',
    );
    expect(text).toBe(
      'title: Sizes\n\n| Kind | Size | Size |\n| --- | --- | --- |\n| Mouse | 2 | 3 |\n| Mouse | 4 | 5 |\n| All |  | 6 |\n\n',
    );
  });

  test('of TEI are read with the row of their labels', async () => {
    const { text } = await readBlocks(
      'xml',
      '<TEI><text><body><table rows="2"><head>Sizes</head><row role="label"><cell>Kind</cell><cell>Size</cell></row><row><cell>Mouse</cell><cell>3</cell></row></table></body></text></TEI>',
    );
    expect(text).toBe('head: Sizes\n\n| Kind | Size |\n| --- | --- |\n| Mouse | 3 |\n\n');
  });

  test('within a paragraph divide its text', async () => {
    const { text } = await readArticle(
      '<p>One <table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table> two.</p>',
    );
    expect(text).toContain('One\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n\ntwo.\n\n');
  });

  test('that end early are read as far as they go, and one with one column is text', async () => {
    const { text } = await readArticle('<table><tr><td>A</td><td>B</td></tr><tr><td>1</td><td>2');
    expect(text).toContain('| A | B |\n| --- | --- |\n| 1 | 2 |\n\n');
    expect((await readArticle('<table><tr><td>Alone</td></tr></table>')).text).toContain('\n\nAlone\n\n');
  });

  test('are not what records call a table', async () => {
    const table = '<table><name>Coffee table</name><row><entry>1</entry><entry>2</entry></row></table>';
    const { text } = await readBlocks('xml', `<shop>${table}</shop>`);
    expect(text).toBe('name: Coffee table\n\nentry: 1\nentry: 2\n\n');
  });
});
