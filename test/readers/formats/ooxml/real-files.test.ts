import { describe, expect, test } from '@jest/globals';
import { formatByExtension } from '../../../../src/readers/detection/formats.js';
import type { Place } from '../../../../src/readers/blocks/block.js';
import { loadParser } from '../../../../src/readers/parsers.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { folded, sampleFiles } from '../../../support/sample-files.js';

const samples = sampleFiles().filter(({ file }) => /\.(?:docx|pptx|xlsx)$/.test(file));

/** The places of phrases in some of the files. */
const PLACES: readonly (readonly [file: string, phrase: string, place: Place])[] = [
  ['tika__testEXCEL.strict.xlsx', 'Start of 2nd sheet', { sheet: 'Sheet Number 2', row: 1 }],
  ['tika__testEXCEL.xlsx', 'Written and saved in Microsoft Excel', { sheet: 'Feuil1', row: 22 }],
  ['tika__testPPT_various.pptx', 'Row 2 Col 3', { slide: 1 }],
  ['tika__testPPT_comment.pptx', 'subtitle', { slide: 1 }],
];

async function read(name: string) {
  const sample = samples.find(({ file }) => file === name);
  const format = formatByExtension(name.slice(-4));
  if (!sample || !format) throw new Error(`no sample ${name}`);
  return await readBlocks(await loadParser(format), sample.read(), { filename: name });
}

(samples.length > 0 ? describe : describe.skip)('real office files', () => {
  test.each(PLACES)('%s has "%s" at its place', async (file, phrase, place) => {
    const { blocks } = await read(file);
    expect(blocks.find(({ text }) => text.includes(phrase))?.place).toEqual(place);
  });

  test.each(samples.filter(({ expected }) => expected === 'found'))(
    '$file has its phrase and says what was not read',
    async ({ file, phrase }) => {
      const { text, gaps } = await read(file);
      expect(folded(text)).toContain(folded(phrase));
      for (const gap of gaps) expect(gap).toMatch(/^(?:empty|hidden|skipped): /);
    },
  );

  test('keep headings, tables within tables and merged cells', async () => {
    const various = await read('tika__testWORD.docx');
    expect(various.blocks.filter(({ heading }) => heading !== undefined).length).toBeGreaterThan(3);
    expect((await read('unst__docx-tables.docx')).text).toContain('| d | e, f; g&t, h | i |');
    expect((await read('unst__docx-tables.docx')).text).toContain('| e | e | d |');
  });
});
