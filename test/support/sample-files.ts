import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const directory = join(process.env['QUIRE_SHARED'] ?? '../shared', 'files');
const manifest = join(directory, 'MANIFEST.tsv');

export interface SampleFile {
  readonly file: string;
  readonly path: string;
  /** Text that must be found in its chunks, folded; may be empty. */
  readonly phrase: string;
  /** `found`, `done`, `any` or `fail:` and the codes it may fail with. */
  readonly expected: string;
  readonly read: () => Uint8Array;
}

/** Real files as other projects keep them to test their parsers; none, with a printed reason, where they are not there. */
export function sampleFiles(): SampleFile[] {
  if (!existsSync(manifest)) {
    console.warn(`skipped: no sample files at ${directory}`);
    return [];
  }
  const lines = readFileSync(manifest, 'utf8').trim().split('\n').slice(1);
  return lines.map((line) => {
    const [file = '', , , , phrase = '', expected = ''] = line.split('\t');
    const path = join(directory, file);
    return { file, path, phrase, expected, read: () => readFileSync(path) };
  });
}

/** Text as phrases are compared: without what cannot be seen, white space and case folded. */
export function folded(text: string): string {
  const visible = text.normalize('NFKC').replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '');
  return visible.replace(/\s+/g, ' ').toLowerCase();
}
