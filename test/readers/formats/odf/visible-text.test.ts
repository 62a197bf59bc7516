import { expect, test } from '@jest/globals';
import type { FileFormat } from '../../../../src/readers/detection/formats.js';
import {
  box,
  DARK,
  file,
  look,
  odp,
  ordinary,
  photo,
  slide,
  span,
  style,
  textBox,
  white,
  type Parts,
} from '../../../support/open-document-looks.js';
import { readBlocks } from '../../../support/read-blocks.js';

const SEEN: readonly (readonly [FileFormat, string, Parts])[] = [
  [
    'odp',
    'on a thick line',
    odp(
      slide(`<draw:line draw:style-name="e" ${box(0, 20)}/>` + textBox()),
      white + style('e', 'graphic', `<style:graphic-properties svg:stroke-width="3cm"/>`),
    ),
  ],
  [
    'odp',
    'over a shape with soft edges on a dark slide',
    odp(
      slide(`<draw:rect draw:style-name="e" ${box(0, 20)}/>` + textBox(), 'draw:style-name="darkPage"'),
      white +
        style(
          'e',
          'graphic',
          `<style:graphic-properties draw:fill="solid" draw:fill-color="#ffffff" loext:softedge-radius="1cm"/>`,
        ),
    ),
  ],
  [
    'odp',
    'in a shape whose shadow its letters have',
    odp(
      slide(textBox(box(2), 'e')),
      white + style('e', 'graphic', `<style:graphic-properties draw:fill="none" draw:shadow="visible"/>`),
    ),
  ],
  [
    'odp',
    'under a picture that is cut off beyond its end',
    odp(
      slide(textBox() + photo().replace('"none"', '"e"')),
      ordinary + style('e', 'graphic', '<style:graphic-properties fo:clip="rect(-9cm, 0cm, 0cm, 0cm)"/>'),
    ),
  ],
  [
    'odp',
    'under a picture that can be seen through',
    odp(
      slide(textBox() + photo().replace('"none"', '"e"')),
      ordinary + style('e', 'graphic', '<style:graphic-properties draw:image-opacity="50%"/>'),
    ),
  ],
  [
    'odt',
    'white in paragraphs whose defaults are dark',
    {
      body: span,
      styles:
        white +
        `<style:default-style style:family="paragraph"><style:paragraph-properties fo:background-color="${DARK}"/></style:default-style>`,
    },
  ],
  [
    'odt',
    'dark in a paragraph that undoes the dark of its style',
    {
      body: span.replace('<text:p>', '<text:p text:style-name="child">'),
      styles:
        style('t', 'text', look(`fo:color="${DARK}"`)) +
        style('parent', 'paragraph', `<style:paragraph-properties fo:background-color="${DARK}"/>`) +
        style(
          'child',
          'paragraph',
          '<style:paragraph-properties fo:background-color="transparent"/>',
          'style:parent-style-name="parent"',
        ),
    },
  ],
];

test.each(SEEN)('text of %s that may be seen is read: %s', async (format, _, parts) => {
  const { text, receipt } = await readBlocks(format, file(format, parts));
  expect(text).toContain('words');
  expect(receipt.gap_counts).not.toHaveProperty('hidden');
});

test('text of odp under a picture that is not displayed is read, and the picture is named as hidden', async () => {
  const slides = odp(slide(textBox() + photo(`${box(0, 20)} draw:display="none"`)), ordinary);
  const { text, gaps } = await readBlocks('odp', file('odp', slides));
  expect(text).toContain('words');
  expect(gaps).toContain('hidden: 1 hidden shape was left out.');
});
