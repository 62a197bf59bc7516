import { ReadError } from '../../../read-error.js';

/** The application whose files a package is one of, as messages name it, and where its main part is by default. */
export interface OfficeKind {
  readonly application: 'Word' | 'Excel' | 'PowerPoint';
  readonly extensions: readonly string[];
  readonly mainPart: string;
  /** The greatest number of elements that are read of a file; undefined where its reader counts its own elements. */
  readonly mostElements?: number;
}

export const WORD: OfficeKind = {
  application: 'Word',
  extensions: ['docx', 'docm', 'dotx'],
  mainPart: 'word/document.xml',
  mostElements: 4_000_000,
};
export const EXCEL: OfficeKind = {
  application: 'Excel',
  extensions: ['xlsx', 'xlsm', 'xltx'],
  mainPart: 'xl/workbook.xml',
};
export const POWERPOINT: OfficeKind = {
  application: 'PowerPoint',
  extensions: ['pptx', 'pptm', 'ppsx', 'potx'],
  mainPart: 'ppt/presentation.xml',
};

export function damaged({ application }: OfficeKind, cause?: unknown): ReadError {
  return new ReadError('corrupt', `The ${application} file is damaged.`, { cause });
}

/** Counts the elements of all parts of a file. */
export function createElementCount(kind: OfficeKind): () => void {
  const { mostElements = Number.POSITIVE_INFINITY } = kind;
  let elements = 0;
  return () => {
    elements += 1;
    if (elements > mostElements)
      throw tooLarge(kind, `has more than ${mostElements.toLocaleString('en')} elements`);
  };
}

/** @param excess the excess, with the limit, such as "has more than 5 sheets" */
export function tooLarge({ application }: OfficeKind, excess: string): ReadError {
  return new ReadError('too_large', `The ${application} file ${excess}.`);
}
