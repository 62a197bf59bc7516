import { expect, test } from '@jest/globals';
import { strToU8, zipSync } from 'fflate';
import { processorTimeOf } from '../../../support/processor-time.js';
import { readBlocks } from '../../../support/read-blocks.js';

interface Styled {
  readonly chapters: number;
  /** The links in the head of each chapter. */
  readonly links: string;
  readonly css: string;
}

function styledBook({ chapters, links, css }: Styled): Uint8Array {
  const numbers = Array.from({ length: chapters }, (_, index) => String(index));
  const items = numbers.map(
    (n) => `<item id="c${n}" href="c${n}.xhtml" media-type="application/xhtml+xml"/>`,
  );
  const spine = numbers.map((n) => `<itemref idref="c${n}"/>`);
  const chapter = (n: string): string =>
    `<html><head>${links}</head><body><p>seen ${n}</p><p class="no">secret ${n}</p></body></html>`;
  return zipSync({
    mimetype: strToU8('application/epub+zip'),
    'META-INF/container.xml': strToU8(
      '<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>',
    ),
    'p.opf': strToU8(
      `<package><manifest>${items.join('')}</manifest><spine>${spine.join('')}</spine></package>`,
    ),
    's.css': strToU8(css),
    ...Object.fromEntries(numbers.map((n) => [`c${n}.xhtml`, strToU8(chapter(n))])),
  });
}

const LINK = '<link rel="stylesheet" href="s.css"/>';

test('a style sheet that a chapter links to again and again holds, and counts once', async () => {
  const css = `.no{display:none}${'a,'.repeat(131_000)}b{color:red}`;
  const book = styledBook({ chapters: 300, links: LINK.repeat(50), css });
  let text = '';
  const taken = await processorTimeOf(async () => ({ text } = await readBlocks('epub', book)));
  // It took 53 s when each link counted.
  expect(taken).toBeLessThan(8_000);
  expect(text).toContain('seen 299');
  // Only the beginning of so long a sheet is read, and its rest may show the text again.
  expect(text).toContain('secret 0');
});

test('chapters take no more than a bounded number of selectors from style sheets', async () => {
  const css = `.no{display:none}${'a,'.repeat(7_000)}b{color:red}`;
  const { text } = await readBlocks('epub', styledBook({ chapters: 200, links: LINK, css }));
  expect(text).not.toContain('secret 0');
  // Text that the sheet would hide is read where the sheet is not.
  expect(text).toContain('secret 199');
});
