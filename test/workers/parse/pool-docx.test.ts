import { expect, test } from '@jest/globals';
import { officePackage, root } from '../../support/office-packages.js';
import { useParserPool } from '../../support/use-parser-pool.js';

const { startPool, file } = useParserPool();

const MAX_SIZE = 16 * 1024 * 1024;
const PAGES = 872;

const run = (text: string): string =>
  `<w:r w:rsidR="00A77B3E" w:rsidRPr="00A77B3E"><w:rPr><w:rFonts w:ascii="Arial" w:hAnsi="Arial" w:cs="Arial"/><w:color w:val="000000"/><w:sz w:val="20"/><w:szCs w:val="20"/></w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;

/** A page as large manuals have it: a heading, paragraphs of short runs, a list and a table. */
function page(number: number, runs: number): string {
  const mark = `p${String(number)}`;
  const words = Array.from({ length: runs }, (_, index) => run(`${mark} word ${String(index)} `));
  const cell = (text: string): string =>
    `<w:tc><w:tcPr><w:tcW w:w="4788" w:type="dxa"/></w:tcPr><w:p>${run(text)}</w:p></w:tc>`;
  return `<w:p><w:pPr><w:pStyle w:val="H"/></w:pPr>${run(`Page ${String(number)}`)}</w:p><w:p>${words.join('')}</w:p><w:tbl><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid><w:tr>${cell(`${mark} name`)}${cell('value')}</w:tr><w:tr>${cell(`${mark} cell`)}${cell('42')}</w:tr></w:tbl><w:p><w:r><w:br w:type="page"/></w:r></w:p>`;
}

/** The largest file of so many pages whose body is just under 16 MiB of XML. */
function manual(): { readonly bytes: Uint8Array; readonly size: number } {
  const frame = root('w:document', '<w:body></w:body>').length;
  const runs = Math.floor(
    ((MAX_SIZE - frame) / PAGES - page(PAGES, 0).length) / run(`p${String(PAGES)} word 99 `).length,
  );
  const body = Array.from({ length: PAGES }, (_, index) => page(index + 1, runs)).join('');
  const document = root('w:document', `<w:body>${body}</w:body>`);
  const styles = root(
    'w:styles',
    '<w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 1"/></w:style>',
  );
  return {
    bytes: officePackage({
      parts: { 'word/document.xml': document, 'word/styles.xml': styles },
      relations: { 'word/document.xml': [['r1', 'styles', 'styles.xml']] },
    }),
    size: document.length,
  };
}

test('a Word file of 872 pages, just under 16 MiB of XML in half a megabyte, is read within the ordinary memory', async () => {
  const { bytes, size } = manual();
  expect(size).toBeGreaterThan(15.5 * 1024 * 1024);
  expect(size).toBeLessThan(MAX_SIZE);
  expect(bytes.length).toBeLessThan(1024 * 1024);
  const { chunks } = await startPool({ timeoutMilliseconds: 60_000 }).parse({
    path: await file(bytes),
    format: 'docx',
  });
  const last = chunks.at(-1);
  expect(last?.text).toContain(`| p${String(PAGES)} cell | 42 |`);
  expect(last?.section).toEqual([`Page ${String(PAGES)}`]);
  const text = chunks.map((chunk) => chunk.text.slice(chunk.overlap)).join('');
  for (const number of [1, 436, PAGES]) expect(text).toContain(`p${String(number)} word 0 p`);
}, 90_000);
