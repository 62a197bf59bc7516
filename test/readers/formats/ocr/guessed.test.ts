import { describe, expect, test } from '@jest/globals';
import { isGuessed } from '../../../../src/readers/formats/ocr/recognizer.js';

const page = (confidence: number, text: string) => ({
  confidence,
  pieces: text
    .split(' ')
    .map((word) => ({ text: word, x: 0, y: 0, width: 9, height: 9, size: 9, isBold: false })),
});

/** The text that recognition with data of English makes of a Greek page. */
const GREEK = 'H cuvdnTeTal HETAED TWY HEPWY TNV Ta pEpn va TOUG TOL avaPepOVTAL MAPAKATW yivetal TpLd';
const ENGLISH = 'The contract ends in May and all who signed it are told by letter of what follows from that';

describe('what is recognized on a page', () => {
  test('is guessed where nearly all words are unsure', () => {
    expect(isGuessed(page(0.55, ENGLISH))).toBe(true);
  });

  test('is guessed where words are rather unsure and many look like none', () => {
    expect(isGuessed(page(0.7, GREEK))).toBe(true);
    expect(isGuessed(page(0.7, ENGLISH))).toBe(false);
  });

  test('is not guessed where it is sure, whatever the words look like', () => {
    expect(isGuessed(page(0.9, GREEK))).toBe(false);
    expect(isGuessed(page(0.7, 'XKCD 5G a4B'))).toBe(false);
  });
});
