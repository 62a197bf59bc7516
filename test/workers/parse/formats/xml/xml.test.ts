import { describe, expect, test } from '@jest/globals';
import { readBlocks } from '../../../../support/read-blocks.js';

const read = (xml: string | Uint8Array) => readBlocks('xml', xml);

describe('XML', () => {
  test('of records has a line for each value behind its name, and an empty line between records', async () => {
    const { text } = await read(
      '<?xml version="1.0"?><book><country code="FR" id="x"><name>France</name><capital>Paris</capital><area km2="5"/></country><country><name>Peru</name><capital/></country></book>',
    );
    expect(text).toBe('code: FR\nname: France\ncapital: Paris\narea: km2: 5\n\nname: Peru\n\n');
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

  test('expands no entities that it declares, and is read to the end where it is cut off', async () => {
    const levels = Array.from(
      { length: 9 },
      (_, index) => `<!ENTITY e${String(index + 1)} "${`&e${String(index)};`.repeat(10)}">`,
    );
    const bomb = `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e0 "lol">${levels.join('')}]><a><b>&e9;</b><c>text</c></a>`;
    const { text } = await read(bomb);
    expect(text).toContain('c: text');
    expect(text.length).toBeLessThan(1_000);
    expect((await read('<a><b>one</b><c>tw')).text).toBe('b: one\nc: tw\n\n');
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
