import { describe, expect, test } from '@jest/globals';
import { strToU8, unzipSync, zipSync } from 'fflate';
import { processorTimeOf } from '../../../support/processor-time.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { zipBomb } from '../../../support/zip-bomb.js';

const chapter = (body: string, title = 'The book'): string =>
  `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>${title}</title><script src="a.js"/></head><body>${body}</body></html>`;

interface BookParts {
  readonly chapters: Readonly<Record<string, string>>;
  /** The names of the chapters in the order of reading. */
  readonly spine: readonly string[];
  /** The items of the table of contents: the file and the title. */
  readonly contents?: readonly (readonly [string, string])[];
  readonly members?: Readonly<Record<string, string>>;
}

function book({ chapters, spine, contents = [], members = {} }: BookParts): Uint8Array {
  const items = [...new Set([...Object.keys(chapters), ...spine])].filter(
    (name) => name !== 'unlisted.xhtml',
  );
  const manifest = items.map(
    (name) =>
      `<item id="${name}" href="text/${encodeURIComponent(name)}" media-type="${name.endsWith('.svg') ? 'image/png' : 'application/xhtml+xml'}"/>`,
  );
  const links = contents.map(([name, title]) => `<li><a href="text/${name}#start">${title}</a></li>`);
  return zipSync({
    mimetype: [strToU8('application/epub+zip'), { level: 0 }],
    'META-INF/container.xml': strToU8(
      '<container><rootfiles><rootfile full-path="OPS/package.opf"/></rootfiles></container>',
    ),
    'OPS/package.opf': strToU8(
      `<opf:package xmlns:opf="o" xmlns:dc="d"><opf:metadata><dc:title>A book</dc:title><dc:title>Subtitle</dc:title><dc:language>fr</dc:language></opf:metadata><opf:manifest>${manifest.join('')}<opf:item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/></opf:manifest><opf:spine>${spine.map((name) => `<opf:itemref idref="${name}"/>`).join('')}</opf:spine></opf:package>`,
    ),
    'OPS/nav.xhtml': strToU8(
      `<html><body><nav epub:type="toc"><ol>${links.join('')}</ol></nav></body></html>`,
    ),
    ...Object.fromEntries(
      Object.entries(chapters).map(([name, text]) => [`OPS/text/${name}`, strToU8(text)]),
    ),
    ...Object.fromEntries(Object.entries(members).map(([name, text]) => [name, strToU8(text)])),
  });
}

describe('an EPUB book', () => {
  test('is read in the order of its spine, each chapter with its title', async () => {
    const { blocks, receipt } = await readBlocks(
      'epub',
      book({
        chapters: {
          'z one.xhtml': chapter('<h1>Un</h1><p>first<br/>line</p>'),
          'a.xhtml': chapter('<p>second</p>'),
          'b.xhtml': chapter('<p>third</p>'),
        },
        spine: ['z one.xhtml', 'a.xhtml', 'b.xhtml'],
        contents: [['a.xhtml', ' Chapitre\n deux ']],
      }),
    );
    expect(blocks).toEqual([
      { text: 'Un\n\n', heading: 1, place: { chapter: 'Un' }, isPart: true },
      { text: 'first\nline\n\n', place: { chapter: 'Un' } },
      { text: 'second\n\n', place: { chapter: 'Chapitre deux' }, isPart: true },
      { text: 'third\n\n', place: { chapter: 'Chapitre deux' }, isPart: true },
    ]);
    expect(receipt).toMatchObject({
      title: 'A book',
      language: 'fr',
      unit: 'chapter',
      parts: 3,
      parts_read: 3,
      gap_count: 0,
    });
  });

  test('is read as far as its chapters and its list of them go, and what ends early is named', async () => {
    const whole = book({
      chapters: { 'a.xhtml': chapter('<p>first</p>'), 'b.xhtml': chapter('<p>second</p>') },
      spine: ['a.xhtml', 'b.xhtml'],
      contents: [['b.xhtml', 'Two']],
    });
    const cut = (member: string, from: string) => {
      const members = unzipSync(whole);
      const xml = Buffer.from(members[member] ?? []).toString();
      return readBlocks(
        'epub',
        zipSync({ ...members, [member]: strToU8(xml.slice(0, xml.lastIndexOf(from))) }),
      );
    };
    const { text, gaps, receipt } = await cut('OPS/text/b.xhtml', 'nd</p>');
    expect(text).toBe('first\n\nseco\n\n');
    expect(gaps).toEqual(['unreadable: The chapter ends too early.']);
    expect(receipt.gaps[0]?.location).toEqual({ chapter: 'Two' });
    const list = await cut('OPS/package.opf', '<opf:itemref');
    expect(list.text).toBe('first\n\n');
    expect(list.gaps).toEqual(['unreadable: The list of chapters ends too early.']);
    await expect(cut('OPS/package.opf', '<opf:spine')).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('that names the same chapter a thousand times has it once', async () => {
    const spine = Array.from({ length: 1_000 }, () => 'a.xhtml');
    const { text, receipt } = await readBlocks(
      'epub',
      book({ chapters: { 'a.xhtml': chapter('<p>once</p>') }, spine }),
    );
    expect(text).toBe('once\n\n');
    expect(receipt.parts).toBe(1);
  });

  test('that names the same table of contents two thousand times reads it once', async () => {
    const items = Array.from(
      { length: 2_000 },
      (_, n) => `<item id="n${String(n)}" href="nav.xhtml" properties="nav" media-type="a/b"/>`,
    );
    const bytes = book({
      chapters: {},
      spine: [],
      members: {
        'OPS/package.opf': `<package><manifest>${items.join('')}<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>`,
        'OPS/nav.xhtml': `<nav>${'<a href="a.xhtml">Title</a>'.repeat(5_000)}</nav>`,
        'OPS/a.xhtml': chapter('<p>words</p>'),
      },
    });
    const milliseconds = await processorTimeOf(async () => {
      const { blocks } = await readBlocks('epub', bytes);
      expect(blocks[0]?.place).toEqual({ chapter: 'Title' });
    });
    expect(milliseconds).toBeLessThan(5_000);
  });

  test('names what is missing, damaged, empty or no text', async () => {
    const whole = Buffer.from(
      book({
        chapters: {
          'a.xhtml': chapter('<p>read</p>'),
          'empty.xhtml': chapter(''),
          'x.svg': 'pixels',
          'broken.xhtml': chapter(`<p>${'broken '.repeat(50)}</p>`),
        },
        spine: ['a.xhtml', 'missing.xhtml', 'unlisted.xhtml', 'empty.xhtml', 'x.svg', 'broken.xhtml'],
      }),
    );
    const name = whole.indexOf('OPS/text/broken.xhtml');
    whole.fill(0xff, name + 'OPS/text/broken.xhtml'.length, name + 'OPS/text/broken.xhtml'.length + 20);
    const { text, receipt } = await readBlocks('epub', whole);
    expect(text).toBe('read\n\n');
    expect(receipt).toMatchObject({ parts: 6, parts_read: 2 });
    expect(receipt.gap_counts).toEqual({ unreadable: 3, empty: 1, skipped: 1 });
  });

  test('leaves out hidden text, and says so', async () => {
    const { text, receipt } = await readBlocks(
      'epub',
      book({
        chapters: { 'a.xhtml': chapter('<p>seen</p><p style="display:none">unseen</p>') },
        spine: ['a.xhtml'],
      }),
    );
    expect(text).toBe('seen\n\n');
    expect(receipt.gap_counts).toEqual({ hidden: 1 });
  });

  test.each([
    ['.x {display: none}', '<p class="x">words</p>', 'hidden'],
    ['<![CDATA[ .x {display: none} ]]>', '<p class="x">words</p>', 'hidden'],
    ['@media screen {.x {display: none}}', '<p class="x">words</p>', 'hidden'],
    ['.x {color: #fefefe}', '<p class="x">words</p>', 'hidden'],
    ['@media print {.x {display: none}}', '<p class="x">words</p>', 'seen'],
    ['body {background: #000} .x {color: #fff}', '<p class="x">words</p>', 'seen'],
    ['@import "b.css"; .x {color: #fff}', '<p class="x">words</p>', 'seen'],
    ['@media (min-width: 1px) {p {background: #000}} .x {color: #fff}', '<p class="x">words</p>', 'seen'],
  ])('follows a style sheet in the book, linked or within: %s', async (css, body, outcome) => {
    const linked = chapter(body).replace('<head>', '<head><link rel="stylesheet" href="../css/a%20b.css"/>');
    const within = chapter(body).replace('<head>', `<head><style>${css}</style>`);
    for (const markup of [linked, within]) {
      const bytes = book({
        chapters: { 'a.xhtml': markup, 'b.xhtml': markup.replace('words', 'others') },
        spine: ['a.xhtml', 'b.xhtml'],
        members: { 'OPS/css/a b.css': css },
      });
      const { text, receipt } = await readBlocks('epub', bytes);
      expect(text.includes('words')).toBe(outcome === 'seen');
      expect(text.includes('others')).toBe(outcome === 'seen');
      expect(receipt.gap_counts.hidden).toBe(outcome === 'seen' ? undefined : 1);
      expect((await readBlocks('epub', bytes, { hiddenText: 'keep' })).text).toContain('words');
    }
  });

  test('does not take text for hidden where a style sheet is missing, for print or not in the book', async () => {
    for (const link of [
      'href="missing.css"',
      'href="https://example.com/a.css"',
      'href="../p.css" media="print"',
    ]) {
      const markup = chapter('<p class="x">words</p>').replace(
        '<head>',
        `<head><link rel="stylesheet" ${link}/>`,
      );
      const parts = {
        chapters: { 'a.xhtml': markup },
        spine: ['a.xhtml'],
        members: { 'OPS/p.css': '.x{display:none}' },
      };
      expect((await readBlocks('epub', book(parts))).text).toBe('words\n\n');
    }
  });

  test('keeps right-to-left and vertical East Asian text as it is', async () => {
    const texts = ['مرحبا بالعالم', 'שלום עולם', '縦書きの<ruby>文書<rt>ぶんしょ</rt></ruby>', '你好，世界'];
    const body = `<div dir="rtl" style="writing-mode: vertical-rl">${texts.map((text) => `<p>${text}</p>`).join('')}</div>`;
    const { text } = await readBlocks(
      'epub',
      book({ chapters: { 'a.xhtml': chapter(body) }, spine: ['a.xhtml'] }),
    );
    for (const phrase of ['مرحبا بالعالم', 'שלום עולם', '縦書きの文書', '你好，世界'])
      expect(text).toContain(phrase);
  });

  test('whose text is encrypted fails as encrypted, and one whose fonts are is read', async () => {
    const encryption = (algorithm: string): string =>
      `<encryption xmlns:enc="e"><enc:EncryptedData><enc:EncryptionMethod Algorithm="${algorithm}"/></enc:EncryptedData></encryption>`;
    const parts = { chapters: { 'a.xhtml': chapter('<p>text</p>') }, spine: ['a.xhtml'] };
    const withDrm = book({
      ...parts,
      members: { 'META-INF/encryption.xml': encryption('http://www.w3.org/2001/04/xmlenc#aes128-cbc') },
    });
    await expect(readBlocks('epub', withDrm)).rejects.toMatchObject({ code: 'encrypted' });
    const withFonts = book({
      ...parts,
      members: { 'META-INF/encryption.xml': encryption('http://www.idpf.org/2008/embedding') },
    });
    expect((await readBlocks('epub', withFonts)).text).toBe('text\n\n');
  });

  test('that is cut off, has no package document, or inflates too far fails alone with its code', async () => {
    const whole = book({ chapters: { 'a.xhtml': chapter('<p>text</p>') }, spine: ['a.xhtml'] });
    await expect(readBlocks('epub', whole.subarray(0, 400))).rejects.toMatchObject({ code: 'corrupt' });
    const { 'OPS/package.opf': document, ...others } = unzipSync(whole);
    expect(document).toBeDefined();
    await expect(readBlocks('epub', zipSync(others))).rejects.toMatchObject({ code: 'corrupt' });
    const name = 'OPS/text/a.xhtml';
    const { [name]: _, ...apart } = unzipSync(whole);
    const bomb = zipBomb({ name, start: '<html>', megabytes: 300, others: apart });
    await expect(readBlocks('epub', bomb)).rejects.toMatchObject({ code: 'too_large' });
  }, 60_000);

  test('is read up to 10,000 chapters, and the gap names that limit', async () => {
    const names = Array.from({ length: 10_001 }, (_, at) => `${String(at)}.xhtml`);
    const chapters = Object.fromEntries(names.map((name) => [name, chapter(`<p>text of ${name}</p>`)]));
    const { text, receipt } = await readBlocks('epub', book({ chapters, spine: names }));
    expect(text).toContain('text of 9999.xhtml');
    expect(text).not.toContain('text of 10000.xhtml');
    expect(receipt.gap_counts).toEqual({ limit: 1 });
  });

  test('expands no entities that it declares', async () => {
    const bomb = '<!DOCTYPE html [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>';
    const { text } = await readBlocks(
      'epub',
      book({ chapters: { 'a.xhtml': bomb + chapter('<p>&b; &amp; text</p>') }, spine: ['a.xhtml'] }),
    );
    expect(text).toContain('& text');
    expect(text).not.toContain('aaaa');
  });
});
