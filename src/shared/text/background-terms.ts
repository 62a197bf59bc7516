import { normalizeText } from './analysis/normalize-text.js';
import { analyzeText } from './analyze-text.js';
import { backgroundTable } from './background-table.js';
import { splitWord } from './words.js';

const rates = new Map<number, number>();
for (const { rate, words } of backgroundTable)
  for (const word of words.trim().split(/\s+/u))
    for (const term of termsOf(word)) rates.set(term, Math.max(rate, rates.get(term) ?? 0));

/** A word by itself does not show whether it is of a language in which accents count. */
function termsOf(word: string): readonly number[] {
  return [...analyzeText(word).counts.keys(), ...splitWord(normalizeText(word), 'kept').named];
}

/** The share of passages of general text that hold the term; 0 when it is too rare to be in the table. */
export function backgroundRate(term: number): number {
  return rates.get(term) ?? 0;
}
