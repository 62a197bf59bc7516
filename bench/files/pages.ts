import type { Article } from './articles.js';

const LINES_A_PAGE = 52;
const CHARACTERS_A_LINE = 100;

/** The articles as lines on pages, each page with a running title above and its number below. */
export function articlePages(articles: readonly Article[]): string[][] {
  const lines = articles.flatMap(({ title, paragraphs }) => [
    ...wrap(title),
    '',
    ...paragraphs.flatMap((each) => [...wrap(each), '']),
  ]);
  const pages: string[][] = [];
  for (let at = 0; at < lines.length; at += LINES_A_PAGE)
    pages.push([
      'Collected abstracts',
      '',
      ...lines.slice(at, at + LINES_A_PAGE),
      '',
      `Page ${String(pages.length + 1)}`,
    ]);
  return pages;
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.replace(/[()\\]/g, '').split(' ')) {
    if (line !== '' && line.length + 1 + word.length > CHARACTERS_A_LINE) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, line];
}
