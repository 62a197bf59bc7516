import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DETECTION_BYTES, detectFileType } from '../../src/readers/detection/detect.js';
import { isPicture, type FileFormat } from '../../src/readers/detection/formats.js';
import type { ParserPool } from '../../src/workers/parse/pool.js';
import type * as source from '../../src/workers/parse/pool.js';
import type * as pdfium from '../../src/readers/formats/pages/pdfium.js';
import { pagesPdf } from '../../test/support/pdfs.js';
import { sampleFiles } from '../../test/support/sample-files.js';
import { takeArticles } from '../files/articles.js';
import { OFFICE_FILES } from '../files/office-files.js';
import { articlePages } from '../files/pages.js';
import { TEXT_FILES } from '../files/text-files.js';
import { round } from '../support/client.js';
import type { Collection } from '../support/collections.js';
import { importCompiled } from '../support/import-compiled.js';

// @NOTE under its source's type: the pool starts the compiled file of a parser
const { startParserPool } = (await importCompiled('workers/parse/pool.js')) as typeof source;

// @NOTE as above
const { loadPdfium } = (await importCompiled('readers/formats/pages/pdfium.js')) as typeof pdfium;

/** The characters of each file that is made. */
const CHARACTERS = 1_000_000;
const ROUNDS = 3;
const CHARACTERS_OF_A_PAGE = 8_000;
const SCAN_DPI = 150;

interface MeasuredFile {
  readonly name: string;
  readonly format: FileFormat;
  readonly bytes: Uint8Array;
}

/**
 * Parts and megabytes a second that one parser process reads and cuts into chunks, of each format: files that are made of
 * the same articles, a picture of a page, and real pictures where there are any. The best of some rounds, the first of which meets a cold process.
 */
export async function measureFormats(scifact: Collection) {
  const folder = await mkdtemp(join(tmpdir(), 'quire-formats-'));
  const pool = await startParserPool({
    user: { uid: 65_534, gid: 65_534 },
    size: 1,
    idleMilliseconds: 600_000,
    memoryMegabytes: 2_048,
    timeoutMilliseconds: 120_000,
    maxChunks: 100_000,
    chunk: { size: 512, overlap: 64 },
  });
  const rows = [];
  try {
    for (const file of madeFiles(scifact)) rows.push(await measureFile(pool, folder, file));
    for await (const file of pictures(scifact)) rows.push(await measureFile(pool, folder, file));
  } finally {
    await pool.close();
    await rm(folder, { recursive: true, force: true });
  }
  console.log('files through a parser process, with chunking; MB of the file and of its text');
  console.table(rows);
  return { figures: rows, measured: {} };
}

function* madeFiles(scifact: Collection): Iterable<MeasuredFile> {
  const articles = takeArticles(scifact, CHARACTERS);
  // @NOTE Object.entries forgets the names, which are formats
  const writers = Object.entries({ ...TEXT_FILES, ...OFFICE_FILES }) as [
    FileFormat,
    (given: typeof articles) => string | Uint8Array,
  ][];
  for (const [format, write] of writers)
    yield {
      name: format === 'code' ? 'made.py' : `made.${format}`,
      format,
      bytes: Buffer.from(write(articles)),
    };
}

/** A page of the articles as a picture, and pictures among the sample files. */
async function* pictures(scifact: Collection): AsyncIterable<MeasuredFile> {
  const [page = []] = articlePages(takeArticles(scifact, CHARACTERS_OF_A_PAGE));
  const shots = await (await loadPdfium())?.render(pagesPdf([page]), [1], SCAN_DPI);
  if (shots?.[0]) yield { name: 'made.png', format: 'png', bytes: shots[0].imageBuffer };
  else console.log('skipped: pages are not rendered on this machine');
  for (const { file, expected, read } of sampleFiles()) {
    if (expected !== 'found') continue;
    const bytes = read();
    const format = detectFileType(bytes.subarray(0, DETECTION_BYTES), file, null)?.format;
    if (format && isPicture(format)) yield { name: file, format, bytes };
  }
}

async function measureFile(pool: ParserPool, folder: string, { name, format, bytes }: MeasuredFile) {
  const path = join(folder, 'measured');
  const times: number[] = [];
  let row = { unit: '', parts: 0, characters: 0, chunks: 0 };
  for (let i = 0; i < ROUNDS; i += 1) {
    await writeFile(path, bytes);
    const started = performance.now();
    const { chunks, receipt } = await pool.parse({ format, filename: name, path });
    times.push((performance.now() - started) / 1_000);
    const { unit, parts, characters } = receipt;
    row = { unit, parts, characters, chunks: chunks.length };
  }
  const seconds = Math.min(...times);
  return {
    file: name,
    unit: row.unit,
    parts: row.parts,
    fileMb: round(bytes.length / 1e6, 3),
    chunks: row.chunks,
    seconds: round(seconds, 3),
    partsPerSecond: round(row.parts / seconds, 1),
    fileMbPerSecond: round(bytes.length / 1e6 / seconds),
    textMbPerSecond: round(row.characters / 1e6 / seconds),
  };
}
