import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { startParserPool } from '../../../src/workers/parse/pool.js';
import { drawPdf } from '../../support/drawn-pdf.js';

const PAGES = 600;
const LINES = Array.from(
  { length: 40 },
  (_, i) => `1 0 0 1 60 ${String(740 - 17 * i)} Tm(A heron and ${String(i)} reeds.)Tj`,
);

test('a page is rendered while all parsers read files', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quire-pages-'));
  const path = join(folder, 'long.pdf');
  const content = `BT/F1 12 Tf\n${LINES.join('\n')}\nET`;
  await writeFile(path, drawPdf({ pages: Array.from({ length: PAGES }, () => ({ content })) }));
  const pool = await startParserPool({
    user: { uid: 65_534, gid: 65_534 },
    size: 1,
    idleMilliseconds: 60_000,
    memoryMegabytes: 2048,
    timeoutMilliseconds: 120_000,
    maxChunks: 20_000,
    chunk: { size: 512, overlap: 64 },
  });
  try {
    // The renderer is there, so that only the wait for a place could make it slow.
    await pool.render({ path, page: 1, content: 'long', boxes: [] });
    const order: string[] = [];
    const reading = pool.parse({ path, format: 'pdf' }).then(() => order.push('read'));
    const rendering = pool
      .render({ path, page: PAGES, content: 'long', boxes: [] })
      .then(() => order.push('rendered'));
    await Promise.all([reading, rendering]);
    expect(order).toEqual(['rendered', 'read']);
  } finally {
    await pool.close();
    await rm(folder, { recursive: true });
  }
}, 120_000);
