import { describe, expect, test } from '@jest/globals';
import type { ReadOptions } from '../../../../src/readers/read-options.js';
import { parsePptx } from '../../../../src/readers/formats/ooxml/pptx.js';
import { officePackage, root, type Relation } from '../../../support/office-packages.js';
import { readBlocks } from '../../../support/read-blocks.js';

const paragraph = (text: string, properties = ''): string =>
  `<a:p>${properties}<a:r><a:t>${text}</a:t></a:r></a:p>`;
const place = (x: number, y: number): string =>
  `<a:xfrm><a:off x="${String(x)}" y="${String(y)}"/><a:ext cx="100" cy="10"/></a:xfrm>`;

interface ShapeOptions {
  readonly type?: string;
  readonly at?: readonly [number, number];
  readonly hidden?: boolean;
}

function shape(content: string, { type, at, hidden = false }: ShapeOptions = {}): string {
  const body = content.startsWith('<') ? content : paragraph(content);
  const placeholder = type === undefined ? '' : `<p:ph type="${type}"/>`;
  const name = `<p:cNvPr id="1" name="x"${hidden ? ' hidden="1"' : ''}/>`;
  return `<p:sp><p:nvSpPr>${name}<p:nvPr>${placeholder}</p:nvPr></p:nvSpPr><p:spPr>${at ? place(...at) : ''}</p:spPr><p:txBody>${body}</p:txBody></p:sp>`;
}

const title = (text: string): string => shape(text, { type: 'title' });
const frame = (data: string): string =>
  `<p:graphicFrame><a:graphic><a:graphicData>${data}</a:graphicData></a:graphic></p:graphicFrame>`;

interface Slide {
  readonly shapes: string;
  readonly isHidden?: boolean;
  readonly relations?: readonly Relation[];
}

/** A presentation whose parts are numbered against the order of its slides. */
function deck(slides: readonly Slide[], parts: Record<string, string> = {}): Uint8Array {
  const part = (index: number): string => `ppt/slides/slide${String(slides.length - index)}.xml`;
  const ids = slides.map((_, index) => `<p:sldId id="${String(256 + index)}" r:id="rId${String(index)}"/>`);
  const presentation = `<p:sldIdLst>${ids.join('')}</p:sldIdLst><p:sldSz cx="1000" cy="500"/>`;
  const written = slides.map(({ shapes, isHidden = false }, index): [string, string] => [
    part(index),
    root('p:sld', `<p:cSld><p:spTree>${shapes}</p:spTree></p:cSld>`, isHidden ? 'show="0"' : ''),
  ]);
  const relations = slides.map((slide, index): [string, readonly Relation[]] => [
    part(index),
    slide.relations ?? [],
  ]);
  return officePackage({
    parts: {
      'ppt/presentation.xml': root('p:presentation', presentation),
      ...Object.fromEntries(written),
      ...parts,
    },
    relations: {
      '': [['rId1', 'officeDocument', 'ppt/presentation.xml']],
      'ppt/presentation.xml': slides.map((_, index) => [`rId${String(index)}`, 'slide', `/${part(index)}`]),
      ...Object.fromEntries(relations),
    },
  });
}

const read = (bytes: Uint8Array, options: Partial<ReadOptions> = {}) => readBlocks(parsePptx, bytes, options);

describe('slides', () => {
  test('come in the order of the presentation, each with its number, its title as heading', async () => {
    const { blocks, text, receipt } = await read(
      deck([{ shapes: shape('first body') + title('First') }, { shapes: title('Second') }]),
    );
    expect(text).toBe('First\n\nfirst body\n\nSecond\n\n');
    expect(blocks.map(({ heading, place: { slide } = {} }) => [heading, slide])).toEqual([
      [2, 1],
      [undefined, 1],
      [2, 2],
    ]);
    expect(receipt).toMatchObject({ unit: 'slide', parts: 2, parts_read: 2, gap_count: 0 });
  });

  test('without a title begin a section of their own, and without text are named as empty', async () => {
    const { text, receipt } = await read(
      deck([{ shapes: title('First') }, { shapes: shape('body') }, { shapes: '' }]),
    );
    expect(text).toBe('First\n\nSlide 2\n\nbody\n\n');
    expect(receipt.gaps).toEqual([
      { reason: 'empty', location: { slides: { first: 3, last: 3 } }, detail: 'The slide holds no text.' },
    ]);
  });

  test('are read by the places of their shapes, columns one after the other, groups together', async () => {
    const group = `<p:grpSp><p:grpSpPr>${place(600, 100)}</p:grpSpPr>${shape('group second', { at: [0, 50] })}${shape('group first', { at: [0, 0] })}</p:grpSp>`;
    const shapes =
      shape('bottom', { at: [0, 400] }) +
      group +
      shape('left lower', { at: [0, 120] }) +
      shape('left upper', { at: [0, 100] }) +
      shape('top', { at: [300, 0] });
    const { text } = await read(deck([{ shapes: title('T') + shapes }]));
    expect(text.split('\n\n').slice(1, -1)).toEqual([
      'top',
      'left upper',
      'left lower',
      'group first',
      'group second',
      'bottom',
    ]);
  });

  test('keep lists with their nesting and numbers, tables with merged cells', async () => {
    const numbered = '<a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr>';
    const list = shape(
      paragraph('one', numbered) +
        paragraph('inner', '<a:pPr lvl="1"><a:buChar char="•"/></a:pPr>') +
        paragraph('two', numbered),
    );
    const cell = (text: string, attributes = ''): string =>
      `<a:tc ${attributes}><a:txBody>${text === '' ? '<a:p/>' : paragraph(text)}</a:txBody></a:tc>`;
    const table = `<a:tbl><a:tr>${cell('Region')}${cell('Sales', 'gridSpan="2"')}${cell('', 'hMerge="1"')}</a:tr><a:tr>${cell('North', 'rowSpan="2"')}${cell('1')}${cell('2')}</a:tr><a:tr>${cell('', 'vMerge="1"')}${cell('3')}${cell('4')}</a:tr></a:tbl>`;
    const { text } = await read(deck([{ shapes: title('T') + list + frame(table) }]));
    expect(text).toBe(
      'T\n\n1. one\n  - inner\n2. two\n\n| Region | Sales | Sales |\n| --- | --- | --- |\n| North | 1 | 2 |\n| North | 3 | 4 |\n\n',
    );
  });

  test('have the values of charts, the texts of diagrams and their notes', async () => {
    const values = (kind: string, texts: readonly string[]): string =>
      `<c:${kind}><c:strCache>${texts.map((text, index) => `<c:pt idx="${String(index)}"><c:v>${text}</c:v></c:pt>`).join('')}</c:strCache></c:${kind}>`;
    const series = `<c:ser>${values('tx', ['Sales'])}${values('cat', ['North', 'South'])}${values('val', ['4.3', '2'])}</c:ser>`;
    const { text } = await read(
      deck(
        [
          {
            shapes:
              title('T') +
              frame('<c:chart r:id="c1"/>') +
              frame('<dgm:relIds r:dm="d1" r:lo="d1" r:qs="d1" r:cs="d1"/>'),
            relations: [
              ['c1', 'chart', '../charts/chart1.xml'],
              ['d1', 'diagramData', '../diagrams/data1.xml'],
              ['n1', 'notesSlide', '../notesSlides/notesSlide1.xml'],
            ],
          },
        ],
        {
          'ppt/charts/chart1.xml': root(
            'c:chartSpace',
            `<c:chart><c:title><c:tx><c:rich>${paragraph('By region')}</c:rich></c:tx></c:title><c:plotArea><c:barChart>${series}</c:barChart></c:plotArea></c:chart>`,
          ),
          'ppt/diagrams/data1.xml': root(
            'dgm:dataModel',
            `<dgm:ptLst><dgm:pt><dgm:t>${paragraph('Plan')}</dgm:t></dgm:pt><dgm:pt><dgm:t>${paragraph('Do')}</dgm:t></dgm:pt></dgm:ptLst>`,
          ),
          'ppt/notesSlides/notesSlide1.xml': root(
            'p:notes',
            `<p:cSld><p:spTree>${shape('7', { type: 'sldNum' })}${shape('Say hello.', { type: 'body' })}</p:spTree></p:cSld>`,
          ),
        },
      ),
    );
    expect(text).toBe(
      'T\n\nBy region\n\n|  | Sales |\n| --- | --- |\n| North | 4.3 |\n| South | 2 |\n\n- Plan\n- Do\n\nNotes: Say hello.\n\n',
    );
  });

  test('have a repeated foot once and no numbers', async () => {
    const foot = shape('ACME', { type: 'ftr' }) + shape('3', { type: 'sldNum' });
    const { text } = await read(deck([{ shapes: title('A') + foot }, { shapes: title('B') + foot }]));
    expect(text).toBe('A\n\nACME\n\nB\n\n');
  });
});

describe('what nobody sees', () => {
  const small = '<a:p><a:r><a:rPr sz="100"/><a:t>tiny words</a:t></a:r></a:p>';
  const bytes = deck(
    [
      {
        shapes:
          title('Seen') +
          shape('hidden shape', { hidden: true }) +
          shape('far away', { at: [50_000_000, 0] }) +
          shape(small),
        relations: [['c1', 'comments', '../comments/comment1.xml']],
      },
      { shapes: title('Secret slide'), isHidden: true },
    ],
    { 'ppt/comments/comment1.xml': root('p:cmLst', '<p:cm><p:text>a remark</p:text></p:cm>') },
  );
  test('includes comments of today, whatever prefix their part gives them', async () => {
    const part = `<z:cmLst xmlns:z="http://schemas.microsoft.com/office/powerpoint/2018/8/main"
      xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><z:cm><z:txBody><a:p><a:r>
      <a:t>a remark of today</a:t></a:r></a:p></z:txBody></z:cm></z:cmLst>`;
    const commented = deck(
      [{ shapes: title('Seen'), relations: [['c1', 'comments', '../comments/modern.xml']] }],
      { 'ppt/comments/modern.xml': part },
    );
    const { gaps } = await read(commented);
    expect(gaps).toEqual(['hidden: 1 comment was left out.']);
  });

  const hidden = ['hidden shape', 'far away', 'tiny words', 'a remark', 'Secret slide'];

  test('is left out and named, one gap for each kind', async () => {
    const { text, gaps, receipt } = await read(bytes);
    expect(text).toBe('Seen\n\n');
    expect(gaps).toEqual([
      'hidden: 1 hidden shape was left out.',
      'hidden: 1 shape outside of its slide was left out.',
      'hidden: 10 characters smaller than 2 points were left out.',
      'hidden: 1 comment was left out.',
      'hidden: 1 hidden slide was left out.',
    ]);
    expect(receipt).toMatchObject({ parts: 2, parts_read: 1 });
  });

  test('is read with the option keep, and read and named with flag', async () => {
    const kept = await read(bytes, { hiddenText: 'keep' });
    const flagged = await read(bytes, { hiddenText: 'flag' });
    for (const phrase of hidden) expect(kept.text).toContain(phrase);
    expect(kept.gaps).toEqual([]);
    expect(flagged.text).toBe(kept.text);
    expect(flagged.gaps).toContain('hidden: 1 hidden slide was read.');
  });
});

test('a presentation that lists no slides is read by the names of its parts', async () => {
  const slide = (text: string): string =>
    root('p:sld', `<p:cSld><p:spTree>${title(text)}</p:spTree></p:cSld>`);
  const bytes = officePackage({
    parts: {
      'ppt/presentation.xml': root('p:presentation', ''),
      'ppt/slides/slide10.xml': slide('tenth'),
      'ppt/slides/slide2.xml': slide('second'),
    },
  });
  expect((await read(bytes)).text).toBe('second\n\ntenth\n\n');
});
