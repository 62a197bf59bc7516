/** The text of a page as the second reader gives it, without spaces and lines that say nothing. */
export function tidyPage(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
