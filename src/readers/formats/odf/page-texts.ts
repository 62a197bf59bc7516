import type { Block } from '../../blocks/block.js';
import { scanMarkup } from '../xml/read-markup.js';
import type { Zip } from '../zip/zip.js';
import type { OdfContext } from './context.js';
import { createParagraphs } from './paragraphs.js';

const PAGE_TEXT = /^style:(?:header|footer)(?:-left|-first)?$/;

/** Reads the text above and below the text of all pages, such as a letterhead. Each text is read once. */
export function* readPageTexts(zip: Zip, { styles, hidden, signs }: OdfContext): Iterable<Block> {
  if (!zip.has('styles.xml')) return;
  const texts = new Set<string>();
  const paragraphs = createParagraphs({
    styles,
    hidden,
    signs,
    behind: () => styles.pageColor(true),
    onParagraph: ({ text }) => {
      texts.add(text);
    },
  });
  let depth = 0;
  scanMarkup(zip.pieces('styles.xml'), {
    open: (name, attributes) => {
      if (PAGE_TEXT.test(name)) depth += 1;
      if (depth > 0) paragraphs.open(name, attributes);
    },
    close: (name) => {
      if (depth > 0) paragraphs.close(name);
      if (PAGE_TEXT.test(name)) depth -= 1;
    },
    text: (text) => {
      if (depth > 0) paragraphs.text(text);
    },
  });
  for (const text of texts) yield { text: `${text}\n\n` };
}
