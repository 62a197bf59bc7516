import type { DocumentRecord } from '../document.js';

export type AccessLists = Pick<DocumentRecord, 'readers' | 'writers' | 'admins'>;

/** The access that documents get which are made of a document's attachments. Who has left that has left these, too. */
export function accessOfAttachments(record: DocumentRecord): AccessLists & Pick<DocumentRecord, 'left'> {
  const { accessChange, left } = record;
  const gone = left ? { left } : {};
  if (!accessChange)
    return { readers: record.readers, writers: record.writers, admins: record.admins, ...gone };
  // Only who has access before and after the change, since it may have been interrupted.
  const both = (name: keyof AccessLists) => accessChange[name].filter((id) => record[name].includes(id));
  return { readers: both('readers'), writers: both('writers'), admins: both('admins'), ...gone };
}

export function canRead(callerId: string, { readers, writers, admins }: AccessLists): boolean {
  return readers.includes(callerId) || writers.includes(callerId) || admins.includes(callerId);
}

/** Everybody who can read, each once. */
export function readersOf({ readers, writers, admins }: AccessLists): ReadonlySet<string> {
  return new Set([...readers, ...writers, ...admins]);
}

export function canWrite(callerId: string, { writers, admins }: AccessLists): boolean {
  return writers.includes(callerId) || admins.includes(callerId);
}

export function canChangeAccess(callerId: string, { admins }: AccessLists): boolean {
  return admins.includes(callerId);
}
