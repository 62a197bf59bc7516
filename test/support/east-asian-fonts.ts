import { test } from '@jest/globals';
import { loadPdfium } from '../../src/readers/formats/pages/pdfium.js';
import { lackedCollections } from '../../src/readers/formats/pdf/fontless/machine-fonts.js';

const pdfium = await loadPdfium();
const lacksJapanese = pdfium !== undefined && (await lackedCollections(pdfium)).has('Japan1');
if (lacksJapanese)
  process.stderr.write(
    'tests of tables in Japanese fonts that are not in the file are skipped: this machine has no such font (fonts-ipafont-gothic)\n',
  );

/** A test of the layout of text in a Japanese font of the viewer's system: skipped, saying so, where there is none. */
export const japaneseFontTest = lacksJapanese ? test.skip : test;
