import { strToU8, zipSync } from 'fflate';
import { officePackage, root, type Relation } from '../../test/support/office-packages.js';
import { openDocumentFile } from '../../test/support/open-documents.js';
import { outlookMessage } from '../../test/support/outlook-message.js';
import { pagesPdf } from '../../test/support/pdfs.js';
import { grid, workbook } from '../../test/support/workbooks.js';
import { escapeXml, type Article } from './articles.js';
import { plainText } from './text-files.js';
import { articlePages } from './pages.js';

const SHEET_ROWS = 2_000;

/** Writes the articles in a format that is packed or binary. */
export const OFFICE_FILES = {
  pdf: (articles) => pagesPdf(articlePages(articles)),
  docx: (articles) =>
    officePackage({
      parts: {
        'word/document.xml': root('w:document', `<w:body>${articles.map(wordArticle).join('')}</w:body>`),
      },
      relations: { '': [['r1', 'officeDocument', 'word/document.xml']] },
    }),
  pptx: (articles) => presentation(articles),
  xlsx: (articles) =>
    workbook({
      sheets: sheetsOf(articles).map((rows, index) => ({ name: `S${String(index)}`, rows: grid(rows) })),
    }),
  odt: (articles) =>
    openDocumentFile(
      'text',
      articles
        .map(
          ({ title, paragraphs }) =>
            `<text:h text:outline-level="1">${escapeXml(title)}</text:h>${paragraphs.map((each) => `<text:p>${escapeXml(each)}</text:p>`).join('')}`,
        )
        .join(''),
    ),
  ods: (articles) =>
    openDocumentFile(
      'spreadsheet',
      sheetsOf(articles)
        .map(
          (rows, index) =>
            `<table:table table:name="S${String(index)}">${rows.map(openRow).join('')}</table:table>`,
        )
        .join(''),
    ),
  odp: (articles) =>
    openDocumentFile(
      'presentation',
      articles
        .map(
          ({ title, paragraphs }, index) =>
            `<draw:page draw:name="p${String(index)}">${openBox(title)}${openBox(paragraphs.join(' '))}</draw:page>`,
        )
        .join(''),
    ),
  epub: (articles) => book(articles),
  msg: (articles) =>
    outlookMessage({
      subject: 'Articles',
      body: plainText(articles),
      sender: ['Ann', 'ann@example.com'],
    }),
} satisfies Readonly<Record<string, (articles: readonly Article[]) => Uint8Array>>;

const wordText = (text: string, style = ''): string =>
  `<w:p>${style}<w:r><w:t>${escapeXml(text)}</w:t></w:r></w:p>`;

function wordArticle({ title, paragraphs }: Article, index: number): string {
  const cells = [title.slice(0, 30), String(index)].map((each) => `<w:tc>${wordText(each)}</w:tc>`).join('');
  const heading = wordText(title, '<w:pPr><w:outlineLvl w:val="0"/></w:pPr>');
  return `${heading}${paragraphs.map((each) => wordText(each)).join('')}<w:tbl><w:tr>${cells}</w:tr><w:tr>${cells}</w:tr></w:tbl>`;
}

/** Rows of sheets with a header each: one for each sentence. */
function sheetsOf(articles: readonly Article[]): (string | number)[][][] {
  const rows = articles.flatMap(({ title, paragraphs }, index) =>
    paragraphs
      .flatMap((each) => each.split('. '))
      .map((each) => [index, escapeXml(title.slice(0, 40)), each.length, escapeXml(each)]),
  );
  const sheets: (string | number)[][][] = [];
  for (let at = 0; at < rows.length; at += SHEET_ROWS)
    sheets.push([['number', 'title', 'length', 'sentence'], ...rows.slice(at, at + SHEET_ROWS)]);
  return sheets;
}

function openRow(cells: readonly (string | number)[]): string {
  const written = cells.map((cell) => {
    const type = typeof cell === 'number' ? `float" office:value="${String(cell)}` : 'string';
    return `<table:table-cell office:value-type="${type}"><text:p>${String(cell)}</text:p></table:table-cell>`;
  });
  return `<table:table-row>${written.join('')}</table:table-row>`;
}

const openBox = (text: string): string =>
  `<draw:frame><draw:text-box><text:p>${escapeXml(text)}</text:p></draw:text-box></draw:frame>`;

function presentation(articles: readonly Article[]): Uint8Array {
  const names = articles.map((_, index) => `slide${String(index)}.xml`);
  const box = (text: string, kind: string): string =>
    `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${kind}"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${escapeXml(text)}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const slides = articles.map(({ title, paragraphs }): string =>
    root(
      'p:sld',
      `<p:cSld><p:spTree>${box(title, 'title')}${box(paragraphs.join(' '), 'body')}</p:spTree></p:cSld>`,
    ),
  );
  const ids = names.map((_, index) => `<p:sldId id="${String(256 + index)}" r:id="s${String(index)}"/>`);
  return officePackage({
    parts: {
      'ppt/presentation.xml': root('p:presentation', `<p:sldIdLst>${ids.join('')}</p:sldIdLst>`),
      ...Object.fromEntries(slides.map((slide, index) => [`ppt/slides/${names[index] ?? ''}`, slide])),
    },
    relations: {
      '': [['r1', 'officeDocument', 'ppt/presentation.xml']],
      'ppt/presentation.xml': names.map((name, index): Relation => [
        `s${String(index)}`,
        'slide',
        `slides/${name}`,
      ]),
    },
  });
}

function book(articles: readonly Article[]): Uint8Array {
  const files = articles.map(({ title, paragraphs }, index): [string, string] => [
    `c${String(index)}.xhtml`,
    `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>${escapeXml(title)}</title></head><body><h1>${escapeXml(title)}</h1>${paragraphs.map((each) => `<p>${escapeXml(each)}</p>`).join('')}</body></html>`,
  ]);
  const items = files.map(
    ([name]) => `<item id="${name}" href="${name}" media-type="application/xhtml+xml"/>`,
  );
  const spine = files.map(([name]) => `<itemref idref="${name}"/>`);
  const members = {
    mimetype: 'application/epub+zip',
    'META-INF/container.xml':
      '<container><rootfiles><rootfile full-path="package.opf"/></rootfiles></container>',
    'package.opf': `<package><metadata/><manifest>${items.join('')}</manifest><spine>${spine.join('')}</spine></package>`,
    ...Object.fromEntries(files),
  };
  return zipSync(Object.fromEntries(Object.entries(members).map(([name, text]) => [name, strToU8(text)])));
}
