import { existsSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { missingLanguages } from '../../../../src/readers/formats/ocr/languages.js';

test('the build holds the data of English beside its reader, so that production needs no package of it', () => {
  expect(existsSync('dist/readers/formats/ocr/eng.traineddata.gz')).toBe(true);
});

test('a language is missing where no file of its data is there, and where its name is none', () => {
  expect(missingLanguages(['eng', 'xyz', '../eng'])).toEqual(['xyz', '../eng']);
});
