import { describe, expect, test } from '@jest/globals';
import { readBlocks } from '../../../support/read-blocks.js';

const read = (xml: string | Uint8Array) => readBlocks('xml', xml);

describe('XML', () => {
  test('of records has a line for each value behind its name, and an empty line between records', async () => {
    const { text } = await read(
      '<?xml version="1.0"?><book><country code="FR" id="x"><name>France</name><capital>Paris</capital><area km2="5"/></country><country><name>Peru</name><capital/></country></book>',
    );
    expect(text).toBe('code: FR\nid: x\nname: France\ncapital: Paris\narea: km2: 5\n\nname: Peru\n\n');
  });

  test('of records has the attributes of values behind them', async () => {
    const records = (xml: string) => read(`<shop xmlns:xsi="x">${xml}</shop>`).then(({ text }) => text);
    expect(await records('<item><price currency="EUR">5</price><phone type="home">1</phone></item>')).toBe(
      'price: 5 (currency: EUR)\nphone: 1 (type: home)\n\n',
    );
    expect(await records('<row key="a" xml:lang="en" xsi:type="t">x</row>')).toBe('row: x (key: a)\n\n');
    expect(await records('<line quantity="3">Bolt <b>M5</b></line>')).toBe('Bolt M5 (quantity: 3)\n\n');
    expect(await records('<e><b>Bolt</b></e><link rdf:resource="u"/>')).toBe(
      'b: Bolt\n\nlink: resource: u\n\n',
    );
    expect(await records(`<review rating="5">${'good '.repeat(80)}</review>`)).toContain('good (rating: 5)');
    expect(await records('<author><style face="bold">Ann</style></author>')).toBe('style: Ann\n\n');
    expect((await read('<price currency="EUR">5</price>')).text).toBe('5 (currency: EUR)\n\n');
    expect((await read('<book><title isbn="7">One</title><a>b</a></book>')).text).toBe(
      'One\n\nisbn: 7\na: b\n\n',
    );
  });

  test.each([
    ['<!DOCTYPE book PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "d">', 'book', ''],
    ['', 'article', 'article-type="research-article"'],
    ['', 'TEI', 'xmlns="http://www.tei-c.org/ns/1.0"'],
  ])('of prose (%s<%s %s) has no attributes of its texts', async (type, root, attributes) => {
    const { text } = await read(
      `${type}<${root} ${attributes}><sec id="s"><title n="1">One</title><p class="a">See <xref rid="b1">1</xref>.</p><xref ref-type="aff" rid="a">2</xref><xref ref-type="fn" rid="b"/></sec></${root}>`,
    );
    expect(text).toContain('One\n\nSee 1.\n\nxref: 2\n\n');
  });

  test('of prose has headings by the nesting of sections, and paragraphs with what stands in them', async () => {
    const { blocks, receipt } = await read(
      '<article xml:lang="de"><title>One</title><para><b>Bold</b> text &amp; <i>more</i>.</para><section><title>Two</title><para>deep</para></section></article>',
    );
    expect(blocks).toEqual([
      { text: 'One\n\n', heading: 1 },
      { text: 'Bold text & more.\n\n' },
      { text: 'Two\n\n', heading: 2 },
      { text: 'deep\n\n' },
    ]);
    expect(receipt).toMatchObject({ title: 'One', language: 'de' });
  });

  test('of a feed is read without the markup in its values', async () => {
    const { text } = await read(
      '<rss><channel><item><title>News</title><description><![CDATA[<p>Some <b>bold</b> news</p>]]></description></item></channel></rss>',
    );
    expect(text).toBe('title: News\ndescription: Some bold news\n\n');
  });

  test('is read in UTF-16 and as it declares, right-to-left and Chinese in their order', async () => {
    const xml = '<?xml version="1.0"?><a><b>اللغة العربية</b><c>第一章</c></a>';
    const expected = 'b: اللغة العربية\nc: 第一章\n\n';
    expect((await read(xml)).text).toBe(expected);
    expect((await read(Buffer.from(`\ufeff${xml}`, 'utf16le'))).text).toBe(expected);
    expect((await read(Buffer.from(xml, 'utf16le'))).text).toBe(expected);
    const latin = Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a><b>Größe</b></a>', 'latin1');
    expect((await read(latin)).text).toBe('b: Größe\n\n');
  });

  test('expands no entities that it declares', async () => {
    const levels = Array.from(
      { length: 9 },
      (_, index) => `<!ENTITY e${String(index + 1)} "${`&e${String(index)};`.repeat(10)}">`,
    );
    const bomb = `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e0 "lol">${levels.join('')}]><a><b>&e9;</b><c>text</c></a>`;
    const { text } = await read(bomb);
    expect(text).toContain('c: text');
    expect(text.length).toBeLessThan(1_000);
  });

  test('that ends early is read as far as it goes, which is named, and fails where that is nothing', async () => {
    const { text, gaps } = await read('<a><b>one</b><c>tw');
    expect(text).toBe('b: one\nc: tw\n\n');
    expect(gaps).toEqual(['unreadable: The file ends too early.']);
    expect((await read('<a><b>one</b></a>\n<!-- end')).gaps).toEqual([]);
    await expect(read('<a><b>')).rejects.toMatchObject({ code: 'corrupt' });
  });

  test.each([
    ['elements within each other', '<a>'.repeat(300_000) + 'deep'],
    ['values of one record', `<a>${'<b>x</b>'.repeat(200_000)}deep</a>`],
    ['sections', '<section><title>deep</title>'.repeat(50_000)],
    [
      'attributes',
      `<a><b ${Array.from({ length: 50_000 }, (_, index) => `k${String(index)}="deep"`).join(' ')}/></a>`,
    ],
  ])(
    'of very many %s is read in time',
    async (_, xml) => {
      expect((await read(xml)).text).toContain('deep');
    },
    10_000,
  );
});
