import { createHtmlReader } from './read-html.js';

/** Collects the readable text of markup that is written in pieces, tables as lines of cells. */
export function createHtmlText(): { write(markup: string): void; end(): string } {
  const reader = createHtmlReader({ hasTables: false });
  return {
    write: (markup) => reader.write(markup),
    end: () =>
      reader
        .end()
        .blocks.map(({ text }) => text)
        .join('')
        .trimEnd(),
  };
}
