import type * as Pdfjs from './pdfjs.js';

let loading: Promise<typeof Pdfjs> | undefined;

/** The second reader of PDFs, which is loaded when it is first needed. */
export const loadPdfjs = (): Promise<typeof Pdfjs> => (loading ??= import('./pdfjs.js'));
