import { hashTerm } from './terms.js';

const stemsByRate: readonly (readonly [number, string])[] = [];

const rates = new Map<number, number>();
for (const [rate, stems] of stemsByRate) for (const stem of stems.split(' ')) rates.set(hashTerm(stem), rate);

/** Share of passages of general text that hold the term; 0 when it is too rare to be in the table. */
export function backgroundRate(term: number): number {
  return rates.get(term) ?? 0;
}
