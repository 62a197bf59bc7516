import type { HiddenText } from '../read-options.js';
import type { ReceiptWriter } from '../receipt/receipt-writer.js';

interface HiddenTextOptions {
  readonly hiddenText: HiddenText;
  readonly receipt: ReceiptWriter;
}

/** Decides whether text that nobody sees is read, and notes how much there was of each kind. */
export interface HiddenTextWriter {
  /** Tells whether text of this kind becomes a part of the document. Counts the text, unless it is read as ordinary text. */
  accepts(kind: string, text: string): boolean;
  /** Notes text that is read although only some readers of the file meet it; nothing where all text is ordinary. */
  countRead(kind: string, text: string): void;
  /** Notes text that is left out, whatever happens to hidden text. */
  countLeftOut(kind: string, text: string): void;
  /** Adds a gap for each kind that was found. */
  report(): void;
}

export function createHiddenTextWriter({ hiddenText, receipt }: HiddenTextOptions): HiddenTextWriter {
  const counts = new Map<string, number>();
  const count = (kind: string, text: string): void => {
    const visible = text.trim();
    // A pair of surrogates is one character.
    const { length } = visible.replace(/[\ud800-\udbff][\udc00-\udfff]/g, ' ');
    if (length > 0) counts.set(kind, (counts.get(kind) ?? 0) + length);
  };
  const countUnlessKept = (kind: string, text: string): void => {
    if (hiddenText !== 'keep') count(kind, text);
  };
  return {
    accepts: (kind, text) => {
      countUnlessKept(kind, text);
      return hiddenText !== 'drop';
    },
    countRead: countUnlessKept,
    countLeftOut: count,
    report: () => {
      for (const [kind, characters] of counts)
        receipt.addGap('hidden', `Text that is not shown (${kind}): ${String(characters)} characters.`);
      counts.clear();
    },
  };
}
