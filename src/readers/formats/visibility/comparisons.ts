import type { ReceiptWriter } from '../../receipt/receipt-writer.js';

/**
 * The greatest number of layers, over all pages of a file, that are looked at to find the colours and shapes behind and
 * above texts.
 */
const MAX_COMPARISONS = 10_000_000;

/** The remaining comparisons of layers of one file. */
export interface Comparisons {
  /** Takes one comparison; false when all are used up. */
  take(): boolean;
}

/** Beyond the bound text counts as visible, which the receipt says once. */
export function createComparisons(receipt: ReceiptWriter): Comparisons {
  let left = MAX_COMPARISONS;
  return {
    take() {
      left -= 1;
      if (left === -1)
        receipt.addGap('limit', 'Not all shapes were compared to find hidden text, since they are too many.');
      return left >= 0;
    },
  };
}
