import type { ReceiptWriter } from './receipt-writer.js';

const ignore = (): void => undefined;

/** Notes the gaps of a file within a document, and nothing about the document itself. */
export const receiptOfPart = (receipt: ReceiptWriter): ReceiptWriter => ({
  ...receipt,
  setParser: ignore,
  setTitle: ignore,
  setLanguage: ignore,
  setParts: ignore,
  addPartRead: ignore,
});
