import { describe, expect, test } from '@jest/globals';
import type { ReadOptions } from '../../../../../src/shared/extraction/read-options.js';
import { parsePptx } from '../../../../../src/workers/parse/formats/ooxml/pptx.js';
import { encodePng } from '../../../../../src/workers/parse/formats/pdf/render/png.js';
import { officePackage, root } from '../../../../support/office-packages.js';
import { readBlocks } from '../../../../support/read-blocks.js';

type Rectangle = readonly [x: number, y: number, width: number, height: number];
/** All of the slide below its title. */
const WHOLE: Rectangle = [0, 60, 1000, 440];
const rgb = (digits: string): string => `<a:solidFill><a:srgbClr val="${digits}"/></a:solidFill>`;
const scheme = (name: string, changes = ''): string =>
  `<a:solidFill><a:schemeClr val="${name}">${changes}</a:schemeClr></a:solidFill>`;
const place = ([x, y, width, height]: Rectangle, more = ''): string =>
  `<a:xfrm ${more}><a:off x="${String(x)}" y="${String(y)}"/><a:ext cx="${String(width)}" cy="${String(height)}"/></a:xfrm>`;

interface TextOptions {
  readonly color?: string;
  readonly run?: string;
  readonly fill?: string;
  readonly at?: Rectangle;
  readonly turned?: string;
  readonly style?: string;
  readonly id?: number;
  readonly type?: string;
}

function shape(text: string, options: TextOptions = {}): string {
  const { color = '', run = '', fill = '', at = [100, 100, 200, 50], turned = '', style = '' } = options;
  const { id = 7, type } = options;
  const placeholder = type === undefined ? '' : `<p:ph type="${type}"/>`;
  const body = text === '' ? '' : `<a:p><a:r><a:rPr ${run}>${color}</a:rPr><a:t>${text}</a:t></a:r></a:p>`;
  return `<p:sp><p:nvSpPr><p:cNvPr id="${String(id)}" name="x"/><p:nvPr>${placeholder}</p:nvPr></p:nvSpPr><p:spPr>${place(at, turned)}${fill}</p:spPr>${style}<p:txBody><a:bodyPr/>${body}</p:txBody></p:sp>`;
}
const picture = (name: string, at: Rectangle, id = 9): string =>
  `<p:pic><p:nvPicPr><p:cNvPr id="${String(id)}" name="x"/><p:nvPr/></p:nvPicPr><p:blipFill><a:blip r:embed="${name}"/></p:blipFill><p:spPr>${place(at)}</p:spPr></p:pic>`;

const png = (alpha: number): Buffer =>
  encodePng({
    width: 2,
    height: 2,
    channels: 4,
    pixels: Uint8Array.from({ length: 16 }, (_, i) => (i % 4 === 3 ? alpha : 9)),
  });

interface SlideParts {
  readonly shapes: string;
  readonly background?: string;
  readonly layout?: string;
  readonly master?: string;
  readonly timing?: string;
  readonly map?: string;
}

/** A presentation of one slide, whose theme has black text on white. */
function deck({
  shapes,
  background = '',
  layout = '',
  master = '',
  timing = '',
  map,
}: SlideParts): Uint8Array {
  const tree = (content: string, behind = ''): string =>
    `<p:cSld>${behind}<p:spTree>${content}</p:spTree></p:cSld>`;
  const masterBackground = '<p:bg><p:bgRef idx="1001"><a:schemeClr val="bg1"/></p:bgRef></p:bg>';
  const mapping = map ?? '<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1"/>';
  const colors = ['dk1', '000000', 'lt1', 'FFFFFF', 'dk2', '1F497D', 'lt2', 'EEECE1', 'accent1', '4F81BD'];
  const listed = [0, 2, 4, 6, 8]
    .map((at) => `<a:${colors[at] ?? ''}><a:srgbClr val="${colors[at + 1] ?? ''}"/></a:${colors[at] ?? ''}>`)
    .join('');
  const plain = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>';
  const slide = 'ppt/slides/slide1.xml';
  return officePackage({
    parts: {
      'ppt/presentation.xml': root(
        'p:presentation',
        '<p:sldIdLst><p:sldId id="256" r:id="s1"/></p:sldIdLst><p:sldSz cx="1000" cy="500"/>',
      ),
      [slide]: root(
        'p:sld',
        tree(shape('Title', { type: 'title', at: [0, 0, 900, 50] }) + shapes, background) + timing,
      ),
      'ppt/slideLayouts/slideLayout1.xml': root('p:sldLayout', tree(layout)),
      'ppt/slideMasters/slideMaster1.xml': root('p:sldMaster', tree(master, masterBackground) + mapping),
      'ppt/theme/theme1.xml': root(
        'a:theme',
        `<a:themeElements><a:clrScheme>${listed}</a:clrScheme><a:fmtScheme><a:fillStyleLst>${plain}</a:fillStyleLst><a:bgFillStyleLst>${plain}</a:bgFillStyleLst></a:fmtScheme></a:themeElements>`,
      ),
      'ppt/media/photo.jpeg': 'a photograph',
      'ppt/media/solid.png': png(255),
      'ppt/media/clear.png': png(120),
    },
    relations: {
      'ppt/presentation.xml': [['s1', 'slide', 'slides/slide1.xml']],
      [slide]: [
        ['l', 'slideLayout', '../slideLayouts/slideLayout1.xml'],
        ['photo', 'image', '../media/photo.jpeg'],
        ['solid', 'image', '../media/solid.png'],
        ['clear', 'image', '../media/clear.png'],
      ],
      'ppt/slideLayouts/slideLayout1.xml': [['m', 'slideMaster', '../slideMasters/slideMaster1.xml']],
      'ppt/slideMasters/slideMaster1.xml': [['t', 'theme', '../theme/theme1.xml']],
    },
  });
}

const read = (parts: SlideParts, options: Partial<ReadOptions> = {}) =>
  readBlocks(parsePptx, deck(parts), options);
const white = { color: rgb('FFFFFF') };
const dark = '<p:bg><p:bgPr><a:solidFill><a:srgbClr val="101010"/></a:solidFill></p:bgPr></p:bg>';
const style = (fill: number, font: string): string =>
  `<p:style><a:fillRef idx="${String(fill)}"><a:schemeClr val="accent1"/></a:fillRef><a:fontRef idx="minor"><a:schemeClr val="${font}"/></a:fontRef></p:style>`;
const group = (content: string, own: Rectangle, inner: Rectangle): string => {
  const [x, y, width, height] = inner;
  return `<p:grpSp><p:grpSpPr><a:xfrm><a:off x="${String(own[0])}" y="${String(own[1])}"/><a:ext cx="${String(own[2])}" cy="${String(own[3])}"/><a:chOff x="${String(x)}" y="${String(y)}"/><a:chExt cx="${String(width)}" cy="${String(height)}"/></a:xfrm></p:grpSpPr>${content}</p:grpSp>`;
};
const cell = (text: string, fill: string): string =>
  `<a:tc><a:txBody><a:p><a:r><a:rPr>${rgb('FFFFFF')}</a:rPr><a:t>${text}</a:t></a:r></a:p></a:txBody><a:tcPr>${fill}</a:tcPr></a:tc>`;
const table = (fill: string, properties = ''): string =>
  `<p:graphicFrame><p:xfrm><a:off x="100" y="100"/><a:ext cx="100" cy="100"/></p:xfrm><a:graphic><a:graphicData><a:tbl><a:tblPr>${properties}</a:tblPr><a:tr>${cell('words', fill)}${cell('others', fill)}</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;

const HIDDEN: readonly (readonly [string, SlideParts])[] = [
  ['white on a white slide', { shapes: shape('words', white) }],
  ['nearly white on white', { shapes: shape('words', { color: rgb('FDFEFC') }) }],
  ['the background of the theme', { shapes: shape('words', { color: scheme('bg1') }) }],
  [
    'a shade of the theme that is no other colour',
    { shapes: shape('words', { color: scheme('bg1', '<a:lumMod val="98000"/>') }) },
  ],
  ['dark on a dark slide', { shapes: shape('words', { color: rgb('111111') }), background: dark }],
  [
    'white, in a white shape on a dark slide',
    { shapes: shape('words', { ...white, fill: rgb('FFFFFF') }), background: dark },
  ],
  [
    'white on a white shape that lies under it',
    { shapes: shape('', { fill: rgb('FFFFFF'), at: WHOLE }) + shape('words', white), background: dark },
  ],
  [
    'of the colour that its shape is filled with by the theme',
    { shapes: shape('words', { color: scheme('accent1'), style: style(1, 'lt1') }) },
  ],
  [
    'white by the style of a shape without a fill',
    { shapes: shape('words', { fill: '<a:noFill/>', style: style(1, 'lt1') }) },
  ],
  ['without a fill', { shapes: shape('words', { color: '<a:noFill/>' }) }],
  [
    'transparent',
    {
      shapes: shape('words', {
        color: '<a:solidFill><a:srgbClr val="FF0000"><a:alpha val="0"/></a:srgbClr></a:solidFill>',
      }),
    },
  ],
  ['white in a cell without a fill', { shapes: table('') }],
  ['smaller than two points', { shapes: shape('words', { run: 'sz="150"' }) }],
  ['off the slide', { shapes: shape('words', { at: [1100, 0, 50, 50] }) }],
  [
    'in a group, off the slide',
    { shapes: group(shape('words', { at: [0, 0, 10, 10] }), [900, 0, 100, 100], [-500, 0, 100, 100]) },
  ],
  ['under a photograph', { shapes: shape('words') + picture('photo', [50, 50, 400, 400]) }],
  [
    'under a picture whose pixels are all opaque',
    { shapes: shape('words') + picture('solid', [50, 50, 400, 400]) },
  ],
  ['under a filled rectangle', { shapes: shape('words') + shape('', { fill: rgb('00FF00'), at: WHOLE }) }],
];

const SEEN: readonly (readonly [string, SlideParts])[] = [
  ['white on a dark slide', { shapes: shape('words', white), background: dark }],
  [
    'white where the map of colours makes slides dark',
    {
      shapes: shape('words', { color: scheme('tx1') }),
      map: '<p:clrMap bg1="dk1" tx1="lt1" bg2="dk2" tx2="lt2"/>',
    },
  ],
  ['white in a dark shape', { shapes: shape('words', { ...white, fill: rgb('203040') }) }],
  ['white in a shape that the theme fills', { shapes: shape('words', { style: style(1, 'lt1') }) }],
  ['white on a picture', { shapes: picture('photo', WHOLE) + shape('words', white) }],
  ['white on a picture of the layout', { shapes: shape('words', white), layout: picture('photo', WHOLE) }],
  [
    'white on a dark shape of the master',
    { shapes: shape('words', white), master: shape('', { fill: rgb('000000'), at: WHOLE }) },
  ],
  [
    'white and partly on a dark shape',
    { shapes: shape('', { fill: rgb('000000'), at: [0, 0, 200, 500] }) + shape('words', white) },
  ],
  [
    'white on a slide of two colours',
    { shapes: shape('words', white), background: '<p:bg><p:bgPr><a:gradFill/></p:bgPr></p:bg>' },
  ],
  ['white in a dark cell', { shapes: table(rgb('000000')) }],
  [
    'white in a cell of a table with a style',
    { shapes: table('', '<a:tableStyleId>{5C22544A}</a:tableStyleId>') },
  ],
  [
    'white with a line around its letters',
    { shapes: shape('words', { color: `<a:ln>${rgb('000000')}</a:ln>${rgb('FFFFFF')}` }) },
  ],
  [
    'white on a mark of its own',
    {
      shapes: shape('words', {
        color: `${rgb('FFFFFF')}<a:highlight><a:srgbClr val="000000"/></a:highlight>`,
      }),
    },
  ],
  [
    'a light grey that can be seen',
    { shapes: shape('words', { color: scheme('bg1', '<a:lumMod val="85000"/>') }) },
  ],
  ['under a picture that is smaller', { shapes: shape('words') + picture('photo', [110, 110, 20, 20]) }],
  ['under a picture that can be seen through', { shapes: shape('words') + picture('clear', WHOLE) }],
  [
    'under a picture that an animation takes away',
    {
      shapes: shape('words') + picture('photo', WHOLE, 12),
      timing: '<p:timing><p:tnLst><p:spTgt spid="12"/></p:tnLst></p:timing>',
    },
  ],
  [
    'off the slide until an animation brings it',
    {
      shapes: shape('words', { at: [1100, 0, 50, 50], id: 13 }),
      timing: '<p:timing><p:tnLst><p:spTgt spid="13"/></p:tnLst></p:timing>',
    },
  ],
  ['on a picture', { shapes: picture('photo', WHOLE) + shape('words') }],
  [
    'turned, so that an end of it is on the slide',
    { shapes: shape('words', { at: [1010, 100, 50, 300], turned: 'rot="5400000"' }) + shape('x') },
  ],
  [
    'in a group that is moved onto the slide',
    { shapes: group(shape('words', { at: [5000, 0, 10, 10] }), [100, 0, 100, 100], [5000, 0, 100, 100]) },
  ],
];

describe('text on a slide that nobody sees', () => {
  test.each(HIDDEN)('is left out and named: %s', async (_, parts) => {
    const { text, receipt } = await read(parts);
    expect(text).not.toContain('words');
    expect(receipt.gap_counts['hidden']).toBe(1);
    const kept = await read(parts, { hiddenText: 'keep' });
    expect(kept.text).toContain('words');
    expect(kept.receipt.gap_counts).not.toHaveProperty('hidden');
    const flagged = await read(parts, { hiddenText: 'flag' });
    expect(flagged.text).toBe(kept.text);
    expect(flagged.receipt.gap_counts['hidden']).toBe(1);
  });

  test.each(SEEN)('is not: %s', async (_, parts) => {
    const { text, receipt } = await read(parts);
    expect(text).toContain('words');
    expect(receipt.gap_counts).not.toHaveProperty('hidden');
  });

  test('is found in a time that grows with the number of shapes', async () => {
    const many = Array.from({ length: 20_000 }, () => shape('words', white)).join('');
    const started = performance.now();
    await read({ shapes: many });
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});
