import type { ReceiptWriter } from '../../receipt/receipt-writer.js';

/** Most characters that repeated cells and rows of a file may add. */
const MAX_CHARACTERS = 4_000_000;

/** Bounds the sum of cells and rows that are written once, with a number of repetitions. */
export interface RepeatBudget {
  /** Returns how many of the repetitions that the file states are made. */
  take(times: number, characters: number): number;
}

export function createRepeatBudget(receipt: ReceiptWriter): RepeatBudget {
  let left = MAX_CHARACTERS;
  return {
    take: (times, characters) => {
      const allowed = 1 + Math.floor(left / (characters + 4));
      const taken = Math.min(times, allowed);
      if (taken < times && left > 0)
        receipt.addGap(
          'limit',
          `Repeated cells and rows are left out beyond ${String(MAX_CHARACTERS)} characters.`,
        );
      left = taken < times ? 0 : left - (taken - 1) * (characters + 4);
      return taken;
    },
  };
}

/** Reads how often a cell, row or column is repeated. */
export function repetitionsOf(attribute: string | undefined): number {
  const count = Number.parseInt(attribute ?? '1', 10);
  return Number.isFinite(count) && count > 1 ? Math.min(count, 2 ** 31) : 1;
}
