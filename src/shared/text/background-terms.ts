import { backgroundTable } from './background-table.js';
import { analyzeText } from './analyze-text.js';

const rates = new Map<number, number>();
for (const { rate, words } of backgroundTable) {
  for (const term of analyzeText(words).counts.keys()) rates.set(term, Math.max(rate, rates.get(term) ?? 0));
}

/** The share of passages of general text that hold the term; 0 when it is too rare to be in the table. */
export function backgroundRate(term: number): number {
  return rates.get(term) ?? 0;
}
