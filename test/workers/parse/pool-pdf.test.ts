import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { decodePng } from '../../../src/readers/formats/pictures/png.js';
import { scanLines, toPdf } from '../../support/scans.js';
import { endlessPdf, hungryPdf, manyPages, pagesPdf } from '../../support/pdfs.js';
import { parserChildren, useParserPool } from '../../support/use-parser-pool.js';
import { until } from '../../support/until.js';

const { startPool, file } = useParserPool();

/** On a full machine the same takes several times as long. */
const PATIENT = { timeoutMilliseconds: 120_000 };

function crashChildren(): void {
  for (const id of parserChildren()) process.kill(id, 'SIGSEGV');
}

describe('the parser pool, with PDFs', () => {
  test('reads a PDF again when compiled code crashes, last without it, and gives up after that', async () => {
    const warnings: unknown[] = [];
    const parser = startPool({ ...PATIENT, logger: { warn: (fields) => warnings.push(fields) } });
    const read = parser.parse({ path: await file(pagesPdf(manyPages(1_500))), format: 'pdf' });
    await until(() => parserChildren().length > 0);
    crashChildren();
    const { chunks } = await read;
    expect(chunks.map(({ text }) => text).join('')).toContain('axolotl1499');
    const crash = { format: 'pdf', reason: 'The document makes the parser fail.' };
    expect(warnings).toEqual([crash]);
    let end: unknown;
    const endless = parser
      .parse({ path: await file(endlessPdf()), format: 'pdf' })
      .catch((error: unknown) => (end = error));
    for (; end === undefined; await new Promise((resolve) => setTimeout(resolve, 200))) crashChildren();
    await endless;
    expect(end).toMatchObject({ code: 'corrupt' });
    // The child had read another document before: by a new one, and without compiled code.
    expect(warnings).toEqual([crash, crash, crash, crash]);
    expect((await parser.parse({ text: 'next', format: 'text' })).chunks).toHaveLength(1);
  });

  test('fails a PDF alone that takes more memory than there is, with compiled code and without', async () => {
    const parser = startPool(PATIENT);
    await expect(parser.parse({ path: await file(hungryPdf()), format: 'pdf' })).rejects.toMatchObject({
      code: 'too_large',
    });
    expect((await parser.parse({ text: 'next', format: 'text' })).chunks).toHaveLength(1);
  });

  test('leaves more than half of its address space to the documents', async () => {
    const megabytes = 2_048;
    const parser = startPool({ memoryMegabytes: megabytes });
    await parser.parse({ path: await file(pagesPdf([['first']])), format: 'pdf' });
    const [id] = parserChildren();
    const status = readFileSync(`/proc/${String(id)}/status`, 'utf8');
    const peak = Number(/^VmPeak:\s+(\d+) kB/m.exec(status)?.[1]) / 1_024;
    expect(peak).toBeGreaterThan(100);
    expect(peak).toBeLessThan(megabytes / 2);
  });

  test('never calls a scan empty whose recognition crashed', async () => {
    const page = await scanLines(150);
    const parser = startPool();
    const path = await file(toPdf(Array.from({ length: 8 }, () => page)));
    const read = parser.parse({ path, format: 'pdf' }).catch((error: unknown) => error);
    await until(() => parserChildren().length > 0);
    crashChildren();
    expect(await read).toMatchObject({
      code: 'no_text',
      message: expect.stringContaining('text recognition failed on the document'),
    });
  });

  test('renders a page with a passage marked', async () => {
    const parser = startPool();
    const path = await file(pagesPdf([['first'], ['second']]));
    const plain = decodePng(await parser.render({ path, page: 2, content: 'a', boxes: [] }));
    const box = { x: 40, y: 30, width: 60, height: 20 };
    const marked = decodePng(await parser.render({ path, page: 2, content: 'a', boxes: [box] }));
    expect([marked.width, marked.height]).toEqual([plain.width, plain.height]);
    const scale = plain.width / 612;
    const changed = marked.pixels.reduce((sum, value, at) => sum + (value === plain.pixels[at] ? 0 : 1), 0);
    // White loses green and blue of its red, green and blue.
    expect(changed / 2).toBeGreaterThan(0.7 * 60 * 20 * scale * scale);
    expect(changed / 2).toBeLessThan(1.3 * 60 * 20 * scale * scale);
    await expect(parser.render({ path, page: 3, content: 'a', boxes: [] })).rejects.toMatchObject({
      code: 'corrupt',
    });
    await expect(
      parser.render({ path: await file('no PDF'), page: 1, content: 'b', boxes: [] }),
    ).rejects.toMatchObject({
      code: 'corrupt',
    });
  });
});
