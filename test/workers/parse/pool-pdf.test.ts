import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { chooseLaunch } from '../../../src/workers/parse/confinement/choose-launch.js';
import {
  createParserPool,
  type ParserPool,
  type ParserPoolOptions,
} from '../../../src/workers/parse/pool.js';
import { openWorkspace } from '../../../src/workers/parse/confinement/workspace.js';
import { decodePng } from '../../../src/workers/parse/formats/pdf/render/png.js';
import { endlessPdf, hungryPdf, manyPages, pagesPdf } from '../../support/pdfs.js';
import { until } from '../../support/until.js';

let place: Pick<ParserPoolOptions, 'workspace' | 'launch'>;
beforeAll(async () => {
  const workspace = await openWorkspace();
  const user = { uid: 65_534, gid: 65_534 };
  place = { workspace, launch: await chooseLaunch({ user, workspace }) };
});
afterAll(() => place.workspace.close());

let directory = '';
let pool: ParserPool | undefined;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quire-pool-'));
});
afterEach(async () => {
  await pool?.close();
  await rm(directory, { recursive: true, force: true });
});

function startPool(options: Partial<ParserPoolOptions> = {}): ParserPool {
  pool = createParserPool({
    size: 1,
    idleMilliseconds: 60_000,
    memoryMegabytes: 1_536,
    timeoutMilliseconds: 20_000,
    maxChunks: 20_000,
    chunk: { size: 512, overlap: 64 },
    ...place,
    ...options,
  });
  return pool;
}

async function file(content: string | Uint8Array): Promise<string> {
  const path = join(directory, `file-${String(Math.random())}`);
  await writeFile(path, content);
  return path;
}

/** Process ids of the children of this process that run the parser. */
function children(): number[] {
  const processes = execFileSync('ps', ['-o', 'pid=,ppid=,args=', '-A'], { encoding: 'utf8' });
  return processes.split('\n').flatMap((line) => {
    const [, id = '', parent = '', command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return parent === String(process.pid) && command.includes('parse/child-main.js') ? [Number(id)] : [];
  });
}

function crashChildren(): void {
  for (const id of children()) process.kill(id, 'SIGSEGV');
}

describe('the parser pool, with PDFs', () => {
  test('reads a PDF once more without compiled code when that crashes, and gives up after that', async () => {
    const warnings: unknown[] = [];
    const parser = startPool({ logger: { warn: (fields) => warnings.push(fields) } });
    const read = parser.parse({ path: await file(pagesPdf(manyPages(1_500))), format: 'pdf' });
    await until(() => children().length > 0);
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
    expect(warnings).toEqual([crash, crash, crash]);
    expect((await parser.parse({ text: 'next', format: 'text' })).chunks).toHaveLength(1);
  });

  test('fails a PDF alone that takes more memory than there is, with compiled code and without', async () => {
    const parser = startPool();
    await expect(parser.parse({ path: await file(hungryPdf()), format: 'pdf' })).rejects.toMatchObject({
      code: 'too_large',
    });
    expect((await parser.parse({ text: 'next', format: 'text' })).chunks).toHaveLength(1);
  });

  test('renders a page with a passage marked', async () => {
    const parser = startPool();
    const path = await file(pagesPdf([['first'], ['second']]));
    const plain = decodePng(await parser.render({ path, page: 2, boxes: [] }));
    const box = { x: 40, y: 30, width: 60, height: 20 };
    const marked = decodePng(await parser.render({ path, page: 2, boxes: [box] }));
    expect([marked.width, marked.height]).toEqual([plain.width, plain.height]);
    const scale = plain.width / 612;
    const changed = marked.pixels.reduce((sum, value, at) => sum + (value === plain.pixels[at] ? 0 : 1), 0);
    // Of red, green and blue, white loses green and blue.
    expect(changed / 2).toBeGreaterThan(0.7 * 60 * 20 * scale * scale);
    expect(changed / 2).toBeLessThan(1.3 * 60 * 20 * scale * scale);
    await expect(parser.render({ path, page: 3, boxes: [] })).rejects.toMatchObject({ code: 'corrupt' });
    await expect(parser.render({ path: await file('no PDF'), page: 1, boxes: [] })).rejects.toMatchObject({
      code: 'corrupt',
    });
  });
});
