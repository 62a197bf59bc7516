/**
 * Turns bytes of files into blocks of text, with their places and the gaps. This is the only way in: `detectFileType` says
 * what a file is, `read` reads it, `renderPage` shows one of its pages. Nothing here knows of documents, chunks or users.
 */
export type { Block, LineBox, Place } from './blocks/block.js';
export { boundedNames } from './blocks/bounded-names.js';
export { cleanText } from './blocks/clean-text.js';
export { LOCATION_FIELDS, locationSchema } from './blocks/location.js';
export type { Box, Location, Rectangle, Span } from './blocks/location.js';
export { oneLine } from './blocks/one-line.js';
export { adviceFor, DETECTION_BYTES, detectFileType } from './detection/detect.js';
export { factsOf, formatOf, KNOWN_CONTENT_TYPES } from './detection/formats.js';
export type { FileFormat } from './detection/formats.js';
export { decodeAs } from './encoding/decode-as.js';
export { encodingOf } from './encoding/labels.js';
export { percentBytes } from './encoding/percent.js';
export { warnOfMissingLanguages } from './formats/ocr/languages.js';
export { loadAllParsers } from './parsers.js';
export { read } from './read.js';
export { ReadError } from './read-error.js';
export { DEFAULT_READ_OPTIONS, HIDDEN_TEXT, OCR_MODES } from './read-options.js';
export type { OcrMode, ReadOptions } from './read-options.js';
export { renderPage } from './read.js';
export { createAttachmentKeeper } from './receipt/attachment-keeper.js';
export type { AttachmentLimits, KeepAttachment, KeptAttachment } from './receipt/attachment-keeper.js';
export {
  addGaps,
  GAP_REASONS,
  gapSchema,
  mailHeadersSchema,
  MAX_NAMED,
  missingAttachment,
  PART_UNITS,
  receiptSchema,
} from './receipt/receipt.js';
export type { Gap, Receipt } from './receipt/receipt.js';
export { createReceiptWriter } from './receipt/receipt-writer.js';
export type { Findings, ReceiptWriter } from './receipt/receipt-writer.js';
