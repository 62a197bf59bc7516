import type { DocumentRecord } from '../document.js';

export type AccessLists = Pick<DocumentRecord, 'readers' | 'writers' | 'admins'>;

/** The access that documents get which are made of a document's attachments. */
export function accessOfAttachments(record: DocumentRecord): AccessLists {
  const { readers, writers, admins } = record.accessChange ?? record;
  return { readers, writers, admins };
}

export function canRead(callerId: string, { readers, writers, admins }: AccessLists): boolean {
  return readers.includes(callerId) || writers.includes(callerId) || admins.includes(callerId);
}

export function canWrite(callerId: string, { writers, admins }: AccessLists): boolean {
  return writers.includes(callerId) || admins.includes(callerId);
}

export function canChangeAccess(callerId: string, { admins }: AccessLists): boolean {
  return admins.includes(callerId);
}
