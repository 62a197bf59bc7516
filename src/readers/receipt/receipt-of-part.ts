import type { ReceiptWriter } from './receipt-writer.js';

const ignore = (): void => undefined;

/** Takes down the gaps of a file within a document, and nothing that would be said of the document itself. */
export const receiptOfPart = (receipt: ReceiptWriter): ReceiptWriter => ({
  ...receipt,
  setParser: ignore,
  setTitle: ignore,
  setLanguage: ignore,
  setParts: ignore,
  addPartRead: ignore,
});
