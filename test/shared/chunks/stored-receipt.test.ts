import { expect, test } from '@jest/globals';
import { packReceipt, unpackReceipt } from '../../../src/shared/chunks/stored-receipt.js';

const USUAL = {
  parser: 'text',
  parser_version: '1',
  title: null,
  language: null,
  mail: null,
  unit: 'file' as const,
  parts: 1,
  parts_read: 1,
  characters: 0,
  tokens: 0,
  ocr: { pages: 0, confidence: null },
  gap_count: 0,
  gap_counts: {},
  gaps: [],
  attachments: [],
};

test('a receipt as most are takes no room, and is read as it was', () => {
  expect(packReceipt(USUAL)).toBe('{}');
  expect(unpackReceipt('{}')).toEqual(USUAL);
});

test('of a receipt only what is not as usual is stored, and all of it is read', () => {
  const receipt = { ...USUAL, title: 'Tides', characters: 1_200, ocr: { pages: 2, confidence: null } };
  expect(JSON.parse(packReceipt(receipt))).toEqual({
    title: 'Tides',
    characters: 1_200,
    ocr: { pages: 2, confidence: null },
  });
  expect(unpackReceipt(packReceipt(receipt))).toEqual(receipt);
});

test('what is no receipt is not read as one', () => {
  expect(() => unpackReceipt('[]')).toThrow();
  expect(() => unpackReceipt('{"parts":"many"}')).toThrow();
});
