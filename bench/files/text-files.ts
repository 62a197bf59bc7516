import { writeMail } from '../../test/support/mail.js';
import { escapeXml, type Article } from './articles.js';

/** Writes the articles in a format that is text. */
type Write = (articles: readonly Article[]) => string;

const joined = (articles: readonly Article[], write: (article: Article, index: number) => string): string =>
  articles.map(write).join('');

const bodyOf = ({ paragraphs }: Article): string => paragraphs.join('\n\n');

/** The articles as a text. */
export const plainText: Write = (articles) =>
  joined(articles, (article) => `${article.title}\n\n${bodyOf(article)}\n\n`);

export const TEXT_FILES = {
  text: plainText,
  markdown: (articles) =>
    joined(
      articles,
      (article, index) =>
        `## ${article.title}\n\n${bodyOf(article)}\n\n| name | value |\n| --- | --- |\n| number | ${String(index)} |\n\n- one\n- two\n\n`,
    ),
  html: (articles) =>
    `<!doctype html><title>Articles</title>${joined(
      articles,
      ({ title, paragraphs }, index) =>
        `<h2>${escapeXml(title)}</h2>${paragraphs.map((each) => `<p>${escapeXml(each)}</p>`).join('')}<table><tr><th>name</th><th>value</th></tr><tr><td>number</td><td>${String(index)}</td></tr></table>`,
    )}`,
  xml: (articles) =>
    `<?xml version="1.0"?><articles>${joined(
      articles,
      ({ title, paragraphs }, index) =>
        `<article number="${String(index)}"><title>${escapeXml(title)}</title>${paragraphs.map((each) => `<p>${escapeXml(each)}</p>`).join('')}</article>`,
    )}</articles>`,
  rtf: (articles) =>
    `{\\rtf1\\ansi\\deff0{\\fonttbl{\\f0 Times;}}${joined(
      articles,
      ({ title, paragraphs }) =>
        `{\\b ${plainRtf(title)}\\b0\\par}${paragraphs.map((each) => `${plainRtf(each)}\\par\n`).join('')}`,
    )}}`,
  csv: (articles) =>
    `number,title,length,words\n${joined(articles, ({ title, paragraphs }, index) =>
      paragraphs
        .flatMap((each) => each.split('. '))
        .map(
          (each) =>
            `${String(index)},"${quoted(title)}",${String(each.length)},"${quoted(each.slice(0, 60))}"\n`,
        )
        .join(''),
    )}`,
  json: (articles) =>
    JSON.stringify(
      articles.map((article, number) => ({ number, ...article, isOpen: true, tags: ['a', 'b'] })),
    ),
  notebook: (articles) =>
    JSON.stringify({
      nbformat: 4,
      nbformat_minor: 5,
      metadata: { kernelspec: { language: 'python' } },
      cells: articles.flatMap((article, index) => [
        { cell_type: 'markdown', metadata: {}, source: [`# ${article.title}\n`, bodyOf(article)] },
        {
          cell_type: 'code',
          metadata: {},
          execution_count: index,
          source: `print(${String(index)})`,
          outputs: [],
        },
      ]),
    }),
  code: (articles) =>
    joined(
      articles,
      ({ paragraphs }, index) =>
        `def function_${String(index)}(value):\n${paragraphs.map((each) => `    # ${each.slice(0, 400)}\n    value = value + len("${quoted(each.slice(0, 80), "'")}")\n`).join('')}    return value\n\n`,
    ),
  srt: (articles) =>
    joined(
      articles,
      (article, index) =>
        `${String(index + 1)}\n${timeOf(index)},000 --> ${timeOf(index + 1)},000\n${bodyOf(article).replace(/\n+/g, ' ')}\n\n`,
    ),
  vtt: (articles) =>
    `WEBVTT\n\n${joined(
      articles,
      (article, index) =>
        `${timeOf(index)}.000 --> ${timeOf(index + 1)}.000\n${bodyOf(article).replace(/\n+/g, ' ')}\n\n`,
    )}`,
  eml: (articles) => writeMail({ subject: 'Articles', text: plainText(articles) }).toString(),
  mbox: (articles) =>
    joined(
      articles,
      (article) =>
        `From ann@example.com Mon Jan  1 10:00:00 2024\n${writeMail({
          subject: article.title,
          text: bodyOf(article),
        })
          .toString()
          .replaceAll('\r\n', '\n')}\n`,
    ),
} satisfies Readonly<Record<string, Write>>;

const plainRtf = (text: string): string => text.replace(/[\\{}]/g, '\\$&');
const quoted = (text: string, by = '""'): string => text.replace(/["\\]/g, by);

function timeOf(index: number): string {
  const pad = (value: number): string => String(value).padStart(2, '0');
  return `${pad(Math.floor(index / 360))}:${pad(Math.floor(index / 6) % 60)}:${pad((index % 6) * 10)}`;
}
