import { IngestError } from '../../../../../shared/errors.js';

/** The application whose files a package is one of, as messages name it, and where its main part is by default. */
export interface OfficeKind {
  readonly application: 'Word' | 'Excel' | 'PowerPoint';
  readonly extensions: readonly string[];
  readonly mainPart: string;
}

export const WORD: OfficeKind = {
  application: 'Word',
  extensions: ['docx', 'docm', 'dotx'],
  mainPart: 'word/document.xml',
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

export function damaged({ application }: OfficeKind, cause?: unknown): IngestError {
  return new IngestError('corrupt', `The ${application} file is damaged.`, { cause });
}

/** @param excess what there is too much of, with the limit, such as "has more than 5 sheets" */
export function tooLarge({ application }: OfficeKind, excess: string): IngestError {
  return new IngestError('too_large', `The ${application} file ${excess}.`);
}
