import type { Block } from '../../blocks/block.js';

/** Divides Markdown at its headings, which keep their marks. Lines of code are no headings. */
export function* markdownBlocks(markdown: string): Iterable<Block> {
  let paragraph: string[] = [];
  let fence = '';
  for (const line of markdown.trim().split(/\r\n|\n|\r/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    if (fence === '') fence = mark;
    else if (mark.startsWith(fence)) fence = '';
    const level = fence === '' ? /^ {0,3}(#{1,6})\s/.exec(line)?.[1]?.length : undefined;
    if (level === undefined) {
      paragraph.push(line);
      continue;
    }
    yield* block(paragraph);
    paragraph = [];
    yield { text: `${line.trim()}\n\n`, heading: level };
  }
  yield* block(paragraph);
}

function* block(lines: readonly string[]): Iterable<Block> {
  const text = lines.join('\n').trim();
  if (text !== '') yield { text: `${text}\n\n` };
}
