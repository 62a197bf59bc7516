import type { Collection } from '../support/collections.js';

/** The material of the bench's files. */
export interface Article {
  readonly title: string;
  /** A paragraph each. */
  readonly paragraphs: readonly string[];
}

/** Articles of so many characters together, those of the collection again and again. All characters are ASCII. */
export function takeArticles({ documents }: Collection, characters: number): Article[] {
  const articles: Article[] = [];
  for (let at = 0, length = 0; length < characters; at += 1) {
    const text = documents[at % documents.length]?.text ?? '';
    const [title = '', ...paragraphs] = text
      .normalize('NFKD')
      .replace(/[^\n -~]/g, '')
      .split('\n')
      .filter((line) => line.trim() !== '');
    articles.push({ title, paragraphs });
    length += text.length;
  }
  return articles;
}

export const escapeXml = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
