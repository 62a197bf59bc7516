import { joinHyphens } from '../pages/layout/paragraphs.js';

/** Joins words that are hyphenated at line ends, and keeps the lines. */
export function tidyPage(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  return joinHyphens(lines.join('\n'))
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
