import { describe, expect, test } from '@jest/globals';
import { namingOf, searchedText, searchedTerms, titleOf } from '../../../src/shared/chunks/searched-text.js';
import { countTokens } from '../../../src/shared/text/token-count.js';

const text = 'Costs of hay and straw.';
const chunk = { text, tokenCount: 7 };
const nothing = { title: null, filename: null };

describe('the text that the vector of a chunk is made of', () => {
  test('begins with the title and the headings over it, each once, the outermost first', () => {
    const section = ['Stables', 'Feed'];
    expect(searchedText({ ...chunk, section }, 'Farm').text).toBe(`Farm > Stables > Feed\n\n${text}`);
    expect(searchedText({ ...chunk, section: ['Farm', 'Feed'] }, 'Farm').text).toBe(`Farm > Feed\n\n${text}`);
    expect(searchedText({ ...chunk, section }, null).text).toBe(`Stables > Feed\n\n${text}`);
  });

  test('leaves out headings that the chunk shows itself, and is the chunk alone where there is nothing over it', () => {
    expect(searchedText({ ...chunk, section: ['hay', 'Feed'] }, 'Costs').text).toBe(`Feed\n\n${text}`);
    for (const alone of [chunk, { ...chunk, section: [] }, { ...chunk, section: ['hay'] }])
      expect(searchedText(alone, null)).toEqual({ text, tokens: 7 });
  });

  test('counts the tokens of what stands before the chunk', () => {
    expect(searchedText(chunk, 'Farm').tokens).toBe(7 + countTokens('Farm\n\n'));
  });

  test('has no headings where the chunk is longer than 4,096 tokens, and 256 letters of them at most', () => {
    expect(searchedText({ ...chunk, tokenCount: 4_096 }, 'Farm').text).toBe(`Farm\n\n${text}`);
    expect(searchedText({ ...chunk, tokenCount: 4_097 }, 'Farm').text).toBe(text);
    expect(searchedText(chunk, 'x'.repeat(300)).text).toBe(`${'x'.repeat(256)}\n\n${text}`);
    const cut = searchedText(chunk, `${'x'.repeat(255)}\u{1f600}`).text;
    expect(cut).toBe(`${'x'.repeat(255)}\ufffd\n\n${text}`);
  });
});

test('the terms of a chunk are those of its text where no heading, title or name adds others', () => {
  const plain = searchedTerms(chunk, nothing);
  expect(searchedTerms({ ...chunk, section: ['hay'] }, nothing)).toEqual(plain);
  expect(searchedTerms({ ...chunk, section: ['Feed'] }, nothing)).not.toEqual(plain);
  expect(searchedTerms(chunk, { title: null, filename: 'feed.txt' })).not.toEqual(plain);
});

test('a document tells its chunks the title and the name of its file, where it has them', () => {
  const extraction = { title: 'Farm' };
  expect(namingOf({ filename: 'a.pdf', extraction })).toEqual({ title: 'Farm', filename: 'a.pdf' });
  expect(namingOf({ filename: null })).toEqual(nothing);
  expect(namingOf(null)).toEqual(nothing);
  expect(titleOf(null)).toBeNull();
});
