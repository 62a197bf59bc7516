/** The treatment of text that readers of a file do not see: leave it out and say so, read it, or read it and say so. */
export const HIDDEN_TEXT = ['drop', 'keep', 'flag'] as const;
export type HiddenText = (typeof HIDDEN_TEXT)[number];

/** The pages and pictures that are read by text recognition: those that need it, none, or all. */
export const OCR_MODES = ['auto', 'off', 'force'] as const;
export type OcrMode = (typeof OCR_MODES)[number];

/** The options by which files are read. */
export interface ReadOptions {
  readonly hiddenText: HiddenText;
  readonly ocr: OcrMode;
  /** Languages of text recognition, by the names of their data, such as `eng`. */
  readonly ocrLanguages: readonly string[];
  /** True if a document that exceeds a limit keeps the text read until then. */
  readonly keepsPartial: boolean;
}

export const DEFAULT_READ_OPTIONS: ReadOptions = {
  hiddenText: 'drop',
  ocr: 'auto',
  ocrLanguages: ['eng'],
  keepsPartial: false,
};
