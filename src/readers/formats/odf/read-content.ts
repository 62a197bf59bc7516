import { readMarkup, type MarkupHandler } from '../xml/read-markup.js';
import type { Zip } from '../zip/zip.js';
import type { OdfContext } from './context.js';

interface ContentReader<Item> extends MarkupHandler {
  take(): Iterable<Item>;
}

/** Reads the content of a document: its styles first, which stand before the body, then the body. */
export function readContent<Item>(
  zip: Zip,
  context: OdfContext,
  reader: ContentReader<Item>,
): Iterable<Item> {
  let handler: MarkupHandler = context.styles;
  const content: MarkupHandler = {
    open: (name, attributes) => {
      if (name === 'office:body') handler = reader;
      handler.open(name, attributes);
    },
    close: (name) => handler.close(name),
    text: (text) => handler.text(text),
    cut: () => context.noteCut('content.xml'),
  };
  return readMarkup(zip.pieces('content.xml'), content, () => reader.take());
}
