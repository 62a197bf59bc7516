import { mayName } from '../judging/names.js';

/** Tells whether a file may have notes of people on its pages, or files that hang on them. */
export const mayHoldNotes = (bytes: Uint8Array): boolean =>
  mayName(bytes, [
    '/Subtype/Text',
    '/Subtype /Text',
    '/Highlight',
    '/Underline',
    '/Squiggly',
    '/StrikeOut',
    '/Caret',
    '/Stamp',
    '/Ink',
    '/Square',
    '/Circle',
    '/Polygon',
    '/PolyLine',
    '/FileAttachment',
  ]);

export const mayHoldFiles = (bytes: Uint8Array): boolean =>
  mayName(bytes, ['/EmbeddedFile', '/FileAttachment']);
