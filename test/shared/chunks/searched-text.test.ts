import { describe, expect, test } from '@jest/globals';
import { searchedTerms, searchedText } from '../../../src/shared/chunks/searched-text.js';
import { analyzeText } from '../../../src/shared/text/list-terms.js';
import { packedLength, unpackTerms } from '../../../src/index/scoring/packed-terms.js';
import { processorMilliseconds } from '../../support/processor-time.js';

const chunk = { text: 'Costs of hay and straw.', tokenCount: 7 };
const termsOf = (filename: string | null, title: string | null = null) =>
  unpackTerms(searchedTerms(chunk, { title, filename })).counts;
const holdsAll = (filename: string, query: string): boolean => {
  const held = termsOf(filename);
  return [...analyzeText(query).counts.keys()].every((term) => held.has(term));
};

describe('a chunk is found by the words of the name of its file', () => {
  test.each([
    ['zebra_budget_2024.txt', 'zebra budget 2024'],
    ['zebra_budget_2024.txt', 'zebra_budget_2024.txt'],
    ['Zebra-Budget.2024.final.pdf', 'budget final'],
    ['ZebraBudget2024.xlsx', 'zebra budget 2024'],
    ['report2024v3.docx', 'report 2024'],
    ['Zebra Budget (2024) – Entwurf.docx', 'budget entwurf'],
    ['Jahresübersicht_Öl.pdf'.normalize('NFD'), 'jahresübersicht öl'],
    ['预算报告2024.docx', '预算报告'],
    ['予算_報告書.pdf', '報告書'],
    ['бюджет_2024.txt', 'бюджет 2024'],
  ])('%s: %s', (filename, query) => {
    expect(holdsAll(filename, query)).toBe(true);
  });
});

test('the name of a file counts twice, in terms and in length, beside what the text holds of it', () => {
  const [hay] = analyzeText('hay').counts.keys();
  const plain = searchedTerms(chunk, { title: null, filename: null });
  const named = searchedTerms(chunk, { title: null, filename: 'hay.txt' });
  expect(unpackTerms(plain).counts.get(hay ?? 0)).toBe(1);
  expect(unpackTerms(named).counts.get(hay ?? 0)).toBe(3);
  expect(packedLength(named)).toBe(packedLength(plain) + 4);
});

test('the title counts once where the chunk does not show it, as the text of its vector has it', () => {
  const [stable] = analyzeText('stables').counts.keys();
  expect(termsOf(null, 'The Stables').get(stable ?? 0)).toBe(1);
  expect(searchedText(chunk, 'The Stables').text).toBe('The Stables\n\nCosts of hay and straw.');
});

test('a name of any length or kind makes terms in no time', () => {
  const started = processorMilliseconds();
  for (const filename of [
    '',
    '....',
    'a'.repeat(100_000),
    '1a'.repeat(100_000),
    '\ud800_budget',
    '🦓'.repeat(9),
  ])
    searchedTerms(chunk, { title: null, filename });
  expect(processorMilliseconds() - started).toBeLessThan(1_000);
});
