import type { Gap, GapReason } from './receipt.js';
import type { ReceiptWriter } from './receipt-writer.js';

/** Names of one thing, and of several. */
export type Nouns = readonly [singular: string, plural: string];

interface Counted {
  readonly location?: Gap['location'];
  readonly amount?: number;
  readonly verb?: 'left out' | 'read';
}

/** Counts things by their names and places, so that each is one gap. */
export function createGapTally(receipt: Pick<ReceiptWriter, 'addGap'>) {
  const counts = new Map<string, { amount: number; report: (amount: number) => void }>();
  return {
    add(
      reason: GapReason,
      nouns: Nouns,
      { location = null, amount = 1, verb = 'left out' }: Counted = {},
    ): void {
      if (amount === 0) return;
      const key = location ? JSON.stringify([nouns[0], location]) : nouns[0];
      const entry = counts.get(key);
      if (entry) entry.amount += amount;
      else {
        const report = (sum: number): void => {
          const [noun, was] = sum === 1 ? [nouns[0], 'was'] : [nouns[1], 'were'];
          receipt.addGap(reason, `${sum.toLocaleString('en')} ${noun} ${was} ${verb}.`, location);
        };
        counts.set(key, { amount, report });
      }
    },
    /** Adds a gap for each name and place that was counted. */
    report: (): void => {
      for (const { amount, report } of counts.values()) report(amount);
      counts.clear();
    },
  };
}
