import type { HiddenText } from '../../../shared/extraction/read-options.js';
import type { ReceiptWriter } from './receipt-writer.js';

interface HiddenTextOptions {
  readonly hiddenText: HiddenText;
  readonly receipt: ReceiptWriter;
}

/** Decides whether text that nobody sees is read, and takes down how much there was of each kind. */
export interface HiddenTextWriter {
  /** Whether text of this kind becomes a part of the document. Counts it unless it is read as ordinary text. */
  accepts(kind: string, text: string): boolean;
  /** Adds a gap for each kind that was found. */
  report(): void;
}

export function createHiddenTextWriter({ hiddenText, receipt }: HiddenTextOptions): HiddenTextWriter {
  const counts = new Map<string, number>();
  return {
    accepts: (kind, text) => {
      const visible = text.trim();
      if (hiddenText !== 'keep' && visible !== '')
        counts.set(kind, (counts.get(kind) ?? 0) + [...visible].length);
      return hiddenText !== 'drop';
    },
    report: () => {
      for (const [kind, count] of counts)
        receipt.addGap('hidden', `Text that is not shown (${kind}): ${String(count)} characters.`);
      counts.clear();
    },
  };
}
