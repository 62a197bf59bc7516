/**
 * `npm run fuzz:readers`: documents at random, which other libraries write and Quire's readers read. `-- --seed 1 --documents 20`
 * says which and how many of each format; `--only docx` takes a part of the names of formats, `--show 3` is how many documents
 * with an error are shown of each, and `--keep folder` leaves the files there. The same seed writes the same documents.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { rowOf, under } from './report.js';
import { runSource, type Result } from './run.js';
import { SOURCES } from './sources.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    documents: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
    show: { type: 'string', default: '3' },
    keep: { type: 'string' },
  },
});

const folder =
  values.keep === undefined ? mkdtempSync(join(tmpdir(), 'quire-readers-')) : resolve(values.keep);
const results: Result[] = [];
try {
  for (const source of SOURCES.filter(({ name }) => name.includes(values.only))) {
    const result = await runSource(source, {
      seed: Number(values.seed),
      documents: Number(values.documents),
      folder,
    });
    results.push(result);
    show(result);
  }
} finally {
  if (values.keep === undefined) rmSync(folder, { recursive: true, force: true });
}
console.table(results.map(rowOf));
const wrong = results.map(under).filter((each) => each !== null);
for (const each of wrong) console.info(`under its floor: ${each}`);
if (wrong.length > 0) process.exitCode = 1;

function show({ source, failures, skipped }: Result): void {
  if (skipped !== null) console.info(`${source.name}: skipped: ${skipped}`);
  for (const { seed, path, complaints, gaps } of failures.slice(0, Number(values.show))) {
    const file = values.keep === undefined ? '' : ` ${path}`;
    console.info(`${source.name}: document ${String(seed)}${file}`);
    for (const complaint of complaints) console.info(`    ${complaint}`);
    for (const gap of gaps) console.info(`    gap ${gap}`);
  }
}
