import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { FileFormat } from '../../../src/readers/detection/formats.js';
import { parseAndChunk } from '../../../src/workers/parse/parse-and-chunk.js';
import { leastOfThree } from '../../support/least-of-three.js';
import { processorTimeOf } from '../../support/processor-time.js';

const SIZE = 1024 * 1024;
const fill = (piece: string, length = SIZE): string => piece.repeat(Math.floor(length / piece.length));

let path = '';
beforeAll(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'quire-quick-')), 'file');
});
afterAll(async () => {
  await rm(join(path, '..'), { recursive: true, force: true });
});

async function processorTime(format: FileFormat, content: string): Promise<number> {
  await writeFile(path, content);
  const chunk = { size: 512, overlap: 64, maxChunks: 20_000 };
  return await processorTimeOf(() => parseAndChunk({ format, source: { path }, chunk }));
}

/** Processor time that an ordinary file of this format takes, measured once for each. */
const usualTimes = new Map<FileFormat, Promise<number>>();
function usualTime(format: FileFormat): Promise<number> {
  const known = usualTimes.get(format);
  if (known !== undefined) return known;
  const content = fill(format === 'csv' ? 'a,b\n' : '<p>some words of text</p>\n');
  const measured = processorTime(format, content);
  usualTimes.set(format, measured);
  return measured;
}

/** Documents of these formats and sizes count as quick: many callers' documents wait behind one. */
test.each<[FileFormat, string, string]>([
  ['html', 'nested elements', `${fill('<b>')}x`],
  [
    'html',
    'closing tags of elements that are not open',
    `${fill('<b>', SIZE / 2)}${fill('</i>', SIZE / 2)}x`,
  ],
  ['html', 'closing tags that open an element', `${fill('<i>', SIZE / 2)}${fill('</p>', SIZE / 2)}x`],
  ['html', 'forms within nested elements', `${fill('<b>', SIZE / 2)}${fill('<form>', SIZE / 2)}x`],
  ['html', 'forms within a form, which are ignored', `<form>${'<b>'.repeat(511)}${fill('<form><b>')}x`],
  ['html', 'nested tables', `${fill('<table><tr><td>')}x`],
  [
    'html',
    'nested foreign elements',
    `x${fill('<svg>', SIZE / 2)}${fill('<title></foreignObject>', SIZE / 2)}`,
  ],
  ['csv', 'rows that are shorter than the first', `a,b\n${fill('x\n')}`],
  [
    'csv',
    'rows that are shorter than a very wide first one',
    `${Array.from({ length: 80_000 }, (_, index) => `h${String(index)}`).join(',')}\n${fill(',\n', SIZE / 2)}`,
  ],
])(
  'a %s file of a megabyte is read as quickly as any: %s',
  async (format, _, content) => {
    const limit = 5 * Math.max(await usualTime(format), 500);
    expect(await leastOfThree(() => processorTime(format, content), limit)).toBeLessThan(limit);
  },
  900_000,
);
