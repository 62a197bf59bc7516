import { describe, expect, test } from '@jest/globals';
import type { ReadOptions } from '../../../../src/readers/read-options.js';
import { parsePptx } from '../../../../src/readers/formats/ooxml/pptx.js';
import { readBlocks } from '../../../support/read-blocks.js';
import {
  picture,
  rgb,
  scheme,
  shape,
  sides,
  slideFile,
  WHOLE,
  type Rectangle,
  type SlideParts,
} from '../../../support/slide-file.js';

const read = (parts: SlideParts, options: Partial<ReadOptions> = {}) =>
  readBlocks(parsePptx, slideFile(parts), options);
const white = { color: rgb('FFFFFF') };
const dark = '<p:bg><p:bgPr><a:solidFill><a:srgbClr val="101010"/></a:solidFill></p:bgPr></p:bg>';
const style = (fill: number, font: string): string =>
  `<p:style><a:fillRef idx="${String(fill)}"><a:schemeClr val="accent1"/></a:fillRef><a:fontRef idx="minor"><a:schemeClr val="${font}"/></a:fontRef></p:style>`;
const group = (content: string, own: Rectangle, inner: Rectangle): string =>
  `<p:grpSp><p:grpSpPr><a:xfrm>${sides(own)}${sides(inner, ['a:chOff', 'a:chExt'])}</a:xfrm></p:grpSpPr>${content}</p:grpSp>`;
const cell = (text: string, fill: string): string =>
  `<a:tc><a:txBody><a:p><a:r><a:rPr>${rgb('FFFFFF')}</a:rPr><a:t>${text}</a:t></a:r></a:p></a:txBody><a:tcPr>${fill}</a:tcPr></a:tc>`;
const table = (fill: string, properties = ''): string =>
  `<p:graphicFrame><p:xfrm>${sides([100, 100, 100, 100])}</p:xfrm><a:graphic><a:graphicData><a:tbl><a:tblPr>${properties}</a:tblPr><a:tr>${cell('words', fill)}${cell('others', fill)}</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;

const softEdge = '<a:effectLst><a:softEdge rad="9"/></a:effectLst>';
const thickLine = `<p:cxnSp><p:spPr><a:xfrm>${sides([0, 60, 1000, 440])}</a:xfrm><a:ln w="635000"/></p:spPr></p:cxnSp>`;
const besideDark = (text: string): string =>
  shape('', { fill: rgb('101010'), at: [100, 200, 200, 200] }) + shape(text, white);

const HIDDEN: readonly (readonly [string, SlideParts])[] = [
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
  [
    'transparent',
    {
      shapes: shape('words', {
        color: '<a:solidFill><a:srgbClr val="FF0000"><a:alpha val="0"/></a:srgbClr></a:solidFill>',
      }),
    },
  ],
  ['white in a cell without a fill', { shapes: table('') }],
  [
    'in a group, off the slide',
    { shapes: group(shape('words', { at: [0, 0, 10, 10] }), [900, 0, 100, 100], [-500, 0, 100, 100]) },
  ],
  ['beside a dark shape', { shapes: besideDark('words') }],
  [
    'white on two white shapes that it lies on together, on a dark slide',
    {
      shapes:
        shape('', { fill: rgb('FFFFFF'), at: [90, 90, 150, 100] }) +
        shape('', { fill: rgb('FFFFFF'), at: WHOLE }) +
        shape('words', white),
      background: dark,
    },
  ],
  ['white near a thin line', { shapes: thickLine.replace('635000', '12700') + shape('words', white) }],
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
  [
    'a grey of the theme in the strict variant',
    { shapes: shape('words', { color: scheme('bg1', '<a:lumMod val="85%"/>') }) },
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
  ['beside a dark shape that a long text reaches', { shapes: besideDark('words '.repeat(20)) }],
  [
    'white over the end of a table, whose rows may grow',
    {
      shapes:
        table(rgb('000000')).replaceAll('words', 'cells') +
        shape('words', { ...white, at: [100, 300, 200, 50] }),
    },
  ],
  [
    'off the slide, where a text that does not fit in its shape comes back',
    { shapes: shape('words '.repeat(9), { at: [100, -60, 40, 40] }) },
  ],
  [
    'on a shape with an effect',
    {
      shapes:
        shape('', { fill: rgb('FFFFFF') + softEdge, at: [50, 50, 500, 300] }) +
        shape('words', white) +
        shape('x'),
    },
  ],
  [
    'in a shape whose shadow its letters have',
    { shapes: shape('words', { ...white, fill: '<a:noFill/><a:effectLst><a:outerShdw/></a:effectLst>' }) },
  ],
  [
    'on a thick edge',
    {
      shapes: shape('words', {
        ...white,
        fill: `${rgb('FFFFFF')}<a:ln w="635000">${rgb('000000')}</a:ln>`,
      }),
    },
  ],
  [
    'under a picture that is not shown',
    { shapes: shape('words') + picture('photo', WHOLE).replace('id="9"', 'id="9" hidden="1"') },
  ],
  [
    'under a film',
    {
      shapes:
        shape('words') + picture('photo', WHOLE).replace('<p:nvPr/>', '<p:nvPr><a:videoFile/></p:nvPr>'),
    },
  ],
  [
    'under a picture that is cut off beyond its end',
    {
      shapes:
        shape('words') +
        picture('photo', WHOLE).replace('</p:blipFill>', '<a:srcRect l="-50000"/></p:blipFill>'),
    },
  ],
  [
    'under a filled place for a text that there is none of',
    { shapes: shape('words') + shape('', { fill: rgb('00FF00'), at: WHOLE, type: 'body' }) },
  ],
  ['white on a shape that is not known', { shapes: '<p:contentPart/>' + shape('words', white) }],
  ['white on a thick line of the master', { shapes: shape('words', white), master: thickLine }],
  [
    'white by letters with what is not known',
    { shapes: shape('words', { color: `${rgb('FFFFFF')}<mc:AlternateContent/>` }) },
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
    expect(receipt.gap_counts.hidden).toBe(1);
    const kept = await read(parts, { hiddenText: 'keep' });
    expect(kept.text).toContain('words');
    expect(kept.receipt.gap_counts).not.toHaveProperty('hidden');
    const flagged = await read(parts, { hiddenText: 'flag' });
    expect(flagged.text).toBe(kept.text);
    expect(flagged.receipt.gap_counts.hidden).toBe(1);
  });

  test.each(SEEN)('is not: %s', async (_, parts) => {
    const { text, receipt } = await read(parts);
    expect(text).toContain('words');
    expect(receipt.gap_counts).not.toHaveProperty('hidden');
  });
});
